import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

/// Instances that share a store and have not heard of each other's changes yet.
@Suite(.timeLimit(.minutes(5)))
struct CacheGenerationTests {
    /// What another instance does while a fetch is in flight.
    enum Change: CaseIterable {
        case update, uncertainUpdate, deletion, creation, invalidation
    }

    private let scheduler = DeterministicScheduler(seed: 3)
    private let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })

    /// Returns the repository of an instance that does not follow the others.
    private func repository(
        _ number: UInt64,
        _ source: (any DataFetcher)? = nil,
        over gated: GatedSharedStore? = nil,
        batching: Batching<Int>? = nil,
        observer: (any RepositoryObserver)? = nil
    ) throws -> Repository<Remark> {
        let store: any SharedRecordStore = gated ?? store
        let peers = RepositoryPeers(sharing: store, generator: SplitMix64(seed: number))
        let place = RepositoryStore(store, partition: ["ada"], peers: peers, now: { OutboxStage.time }) {
            Issue.record($0)
        }
        return try .versioned(
            source ?? self.source,
            store: place,
            batching: batching,
            timer: scheduler.timer,
            observer: observer
        )
    }

    private func perform(_ change: Change, _ repository: Repository<Remark>) async throws {
        switch change {
        case .update: try await repository.update(2) { $0.text = "new" }
        case .uncertainUpdate:
            source.meet(.answerLost)
            await #expect(throws: WriteError<Remark>.self) { try await repository.update(2) { $0.text = "new" } }
        case .deletion: try await repository.delete(2)
        case .creation: _ = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "4")))
        case .invalidation:
            source.put(Remark(id: 2, author: 7, text: "new"))
            repository.invalidate(2)
            await repository.flush()
        }
    }

    /// Reads on an instance whose request is answered before another instance changes something, and whose answer arrives later.
    private func read(
        _ late: Repository<Remark>,
        _ answers: LateAnswer,
        beyond change: @escaping @Sendable () async throws -> Void,
        _ read: @escaping @Sendable (Repository<Remark>) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await read(late) }
            _ = await answers.hasLeft.pass()
            try await change()
            answers.mayArrive.open()
            try await group.waitForAll()
        }
        await late.flush()
    }

    @Test(arguments: Change.allCases)
    func listFromBeforeAChangeOfAnotherInstanceIsNotStored(change: Change) async throws {
        let answers = LateAnswer(base: source)
        let (one, late, third) = (try repository(1), try repository(2, answers), try repository(3))
        try await scheduler.run { [self] in
            try await read(late, answers) {
                try await perform(change, one)
            } _: { late async throws in
                #expect(try await late.entities().value.map(\.text) == ["1", "2", "3"])
            }
            #expect(try await third.entities().value == source.remarks)
            #expect(try await third.entities(.all, .upstreamOnly).value == source.remarks)
        }
    }

    @Test(arguments: [Change.update, .uncertainUpdate, .deletion, .invalidation], [false, true])
    func entityFromBeforeAChangeOfAnotherInstanceIsNotStored(change: Change, inBatch: Bool) async throws {
        let answers = LateAnswer(base: source)
        let batching = inBatch ? Batching<Int>(limit: 2) { ids in ids.map { (name: "id", value: String($0)) } } : nil
        let (one, late) = (try repository(1), try repository(2, answers, batching: batching))
        let third = try repository(3)
        try await scheduler.run { [self] in
            try await read(late, answers) {
                try await perform(change, one)
            } _: { late in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    if inBatch { group.addTask { _ = try await late.entity(3) } }
                    #expect(try await late.entity(2).value.text == "2")
                    try await group.waitForAll()
                }
            }
            if change == .deletion {
                #expect(await third.failure(2) == .notFound)
            } else {
                #expect(try await third.entity(2).value.text == "new")
            }
        }
    }

    @Test func laterAnswersAreStored() async throws {
        let answers = LateAnswer(base: source)
        let (one, late, third) = (try repository(1), try repository(2, answers), try repository(3))
        try await scheduler.run { [self] in
            try await read(late, answers) {
                try await perform(.update, one)
            } _: { late in
                _ = try await late.entity(2)
            }
            _ = try await late.entity(2, .upstreamOnly)
            await late.flush()
            let reading = try await third.entity(2)
            #expect(reading.value.text == "new" && reading.origin == .store)
        }
    }

    @Test func firstAnswerAfterAnAnnouncementIsStored() async throws {
        let (one, other, third) = (try repository(1), try repository(2), try repository(3))
        try await scheduler.run { [self] in
            _ = try await other.entity(1)
            await other.flush()
            try await perform(.update, one)
            other.cache.changedElsewhere(["remarks", "2"])
            _ = try await other.entity(2)
            await other.flush()
            let reading = try await third.entity(2)
            #expect(reading.value.text == "new" && reading.origin == .store)
        }
    }

    @Test func emptyingTheStoreDoesNotMakeAnEarlierAnswerCurrent() async throws {
        let answers = LateAnswer(base: source)
        let (one, late, third) = (try repository(1), try repository(2, answers), try repository(3))
        try await scheduler.run { [self] in
            try await read(late, answers) {
                try await perform(.update, one)
                try await store.commit([.removeAll(["ada"])])
            } _: { late in
                _ = try await late.entity(2)
            }
            #expect(try await third.entity(2).value.text == "new")
        }
    }

    /// What the instance learns for a later fetch says nothing about an earlier one.
    @Test func answerIsNotStoredInAGenerationThatBeganAfterItsRequest() async throws {
        let answers = LateAnswer(base: source)
        let (one, late, third) = (try repository(1), try repository(2, answers), try repository(3))
        try await scheduler.run { [self] in
            try await read(late, answers) {
                try await perform(.update, one)
                late.invalidate(3)
                await late.flush()
                _ = try await late.entity(1)
            } _: { late async throws in
                #expect(try await late.entity(2).value.text == "2")
            }
            #expect(try await third.entity(1).origin == .store)
            #expect(try await third.entity(2).value.text == "new")
        }
    }

    /// An answer that waits behind another commit is not stored if something has changed meanwhile.
    @Test func queuedAnswersAreDroppedOnceSomethingHasChanged() async throws {
        let (gate, isOpen) = (Gate(), Once())
        let gated = GatedSharedStore(store) { operation, moment in
            if case .commit = operation, moment == .before, isOpen.isFirst() { _ = await gate.pass() }
        }
        let (one, late, third) = (try repository(1), try repository(2, over: gated), try repository(3))
        try await scheduler.run { [self] in
            for id in [1, 2] { _ = try await late.entity(id, .upstreamOnly) }
            try await perform(.update, one)
            late.cache.changedElsewhere(["remarks", "3"])
            gate.open()
            await late.flush()
            #expect(try await third.entity(1).origin == .upstream)
            #expect(try await third.entity(2).value.text == "new")
        }
    }

    /// A list in memory may lack what another instance has written, so it is not stored again after a write.
    @Test func listsInMemoryAreNotStoredAfterAWrite() async throws {
        let (one, other, third) = (try repository(1), try repository(2), try repository(3))
        try await scheduler.run { [self] in
            _ = try await one.entities()
            await one.flush()
            try await perform(.creation, other)
            try await one.update(2) { $0.text = "new" }
            _ = try await one.entity(2, .upstreamOnly)
            #expect(try await one.entities().value.map(\.text) == ["1", "new", "3"])
            await one.flush()
            #expect(try await third.entities().value == source.remarks)
        }
    }

    /// Another instance may have written a later version, and reported it before.
    @Test func writtenEntityIsNotStoredWithoutAnOutbox() async throws {
        let answers = LateAnswer(base: source, method: .put)
        let (one, late, third) = (try repository(1), try repository(2, answers), try repository(3))
        try await scheduler.run { [self] in
            try await read(late, answers) {
                try await one.update(2) { $0.text = "last" }
            } _: { late in
                try await late.update(2) { $0.text = "new" }
            }
            #expect(try await third.entity(2).value.text == "last")
        }
    }

    @Test func changeOfOneUserDoesNotKeepAnswersOfOthersFromBeingStored() async throws {
        let answers = LateAnswer(base: source)
        let (late, third) = (try repository(2, answers), try repository(3))
        let peers = RepositoryPeers(sharing: store, generator: SplitMix64(seed: 1))
        let place = RepositoryStore(store, partition: ["grace"], peers: peers, now: { OutboxStage.time }) {
            Issue.record($0)
        }
        let grace = try Repository.versioned(source, store: place, timer: scheduler.timer)
        try await scheduler.run { [self] in
            try await read(late, answers) {
                try await perform(.update, grace)
            } _: { late in
                _ = try await late.entity(3)
            }
            #expect(try await third.entity(3).origin == .store)
        }
    }

    @Test func storeThatCannotBeReadIsReportedAndNothingIsStored() async throws {
        let failure = RecordStoreError(.unavailable, explanation: "The store is away.")
        let gated = GatedSharedStore(store) { operation, moment throws(RecordStoreError) in
            if operation == .read, moment == .before { throw failure }
        }
        let peers = RepositoryPeers(sharing: gated, generator: SplitMix64(seed: 1))
        let errors = RecordingErrorHandler()
        let place = RepositoryStore(gated, partition: ["ada"], peers: peers, now: { OutboxStage.time }) { error in
            errors.handle(error)
        }
        let one = try Repository.versioned(source, store: place, timer: scheduler.timer)
        let third = try repository(3)
        try await scheduler.run { () async throws in
            #expect(try await one.entity(2, .upstreamOnly).value.text == "2")
            await one.flush()
            #expect(errors.errors.count == 1)
            #expect(try await third.entity(2).origin == .upstream)
        }
    }

    /// Answers and removals that are committed together.
    @Test func refusedAnswersDoNotKeepRemovalsFromBeingMade() async throws {
        let (gate, once) = (Gate(), Once())
        let removal = RecordChange.remove(["ada", "remarks", "one", "2"])
        let gated = GatedSharedStore(store) { operation, moment in
            guard case .commit(let changes) = operation, changes.contains(removal), moment == .before else { return }
            if once.isFirst() { _ = await gate.pass() }
        }
        let observer = RecordingRepositoryObserver()
        let (one, late) = (try repository(1), try repository(2, over: gated, observer: observer))
        try await scheduler.run { [self] in
            _ = try await late.entity(2)
            await late.flush()
            source.remove(2)
            _ = try await late.entity(3, .upstreamOnly)
            await #expect(throws: RepositoryError.self) { try await late.entity(2, .upstreamOnly) }
            try await one.update(1) { $0.text = "new" }
            gate.open()
            await late.flush()
            let kept = try await store.records(for: [["ada", "remarks", "one", "2"], ["ada", "remarks", "one", "3"]])
            #expect(kept == [nil, nil])
            // A conflict is no failure of the store.
            for case .storeOperationEnded(_, let error, _) in observer.events { #expect(error == nil) }
        }
    }

    @Test func concurrentFetchesReadTheGenerationOnce() async throws {
        let reads = Mutex(0)
        let gated = GatedSharedStore(store) { operation, moment in
            guard operation == .read, moment == .before else { return }
            reads.withLock { $0 += 1 }
            await Task.yield()
        }
        let one = try repository(1, over: gated)
        try await scheduler.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...3 { group.addTask { _ = try await one.entity(id, .upstreamOnly) } }
                try await group.waitForAll()
            }
        }
        #expect(reads.withLock(\.self) == 1)
    }

    /// Nothing may run between the two commits of an invalidation that makes a response from before it current.
    @Test func generationChangesBeforeRecordsAreRemoved() async throws {
        let (removed, after) = (DispatchSemaphore(value: 0), Box<CacheGeneration>())
        let gated = GatedSharedStore(store) { [store] operation, moment throws(RecordStoreError) in
            guard operation.removesEverything, moment == .after else { return }
            after.put(try await CacheGeneration(of: ["ada", "remarks"], in: store))
            removed.signal()
        }
        let before = try await CacheGeneration(of: ["ada", "remarks"], in: store)
        let peers = RepositoryPeers(sharing: gated, generator: SplitMix64(seed: 1))
        let place = RepositoryStore(gated, partition: ["ada"], peers: peers, now: { OutboxStage.time }) {
            Issue.record($0)
        }
        let one = try Repository.versioned(source, store: place)
        await withCheckedContinuation { continuation in
            // A thread of its own, because it waits for the writer before the change is announced.
            Thread.detachNewThread {
                one.cache.change(everywhere: true, announcing: []) { memory, _ in
                    memory.invalidate([])
                    removed.wait()
                }
                continuation.resume()
            }
        }
        #expect(after.peek != before)
        await one.flush()
    }

    @Test func copyFromBeforeTheLastChangeIsNotAccepted() async throws {
        let copies = StaleCopies(base: source)
        let (one, other, third) = (try repository(1), try repository(2, copies), try repository(3))
        try await scheduler.run { [self] in
            let url = try Upstream.example(source).url(of: ["remarks", "2"], [])
            var copy = try await source.fetch(DataRequest(url: url))
            copy.headerFields[.age] = "30"
            copies.old.put(copy)
            try await perform(.update, one)
            // This instance has not heard of the update, and has cached nothing.
            #expect(try await other.entity(2).value.text == "new")
            await other.flush()
            #expect(try await third.entity(2).value.text == "new")
        }
    }

    @Test func wrapperOfTheSharedStoreSeesEveryCommit() async throws {
        let commits = Mutex(0)
        let wrapper = GatedSharedStore(store) { operation, moment in
            if case .commit = operation, moment == .before { commits.withLock { $0 += 1 } }
        }
        let peers = RepositoryPeers(sharing: store, generator: SplitMix64(seed: 1))
        let place = RepositoryStore(wrapper, partition: ["ada"], peers: peers, now: { OutboxStage.time }) {
            Issue.record($0)
        }
        let one = try Repository.versioned(source, store: place, timer: scheduler.timer)
        try await scheduler.run {
            _ = try await one.entity(2)
            await one.flush()
        }
        #expect(commits.withLock(\.self) == 1)
    }

    @Test func storeThatIsNotSharedIsReportedAndKeepsNothing() async throws {
        let peers = RepositoryPeers(sharing: store, generator: SplitMix64(seed: 1))
        let errors = RecordingErrorHandler()
        let place = RepositoryStore(Unshared(base: store), partition: ["ada"], peers: peers, now: { OutboxStage.time })
        {
            errors.handle($0)
        }
        let one = try Repository.versioned(source, store: place, timer: scheduler.timer)
        #expect(errors.errors.count == 1)
        try await scheduler.run { [self] in
            _ = try await one.entity(2)
            await one.flush()
            #expect(try await store.records(under: []).isEmpty)
        }
    }
}

/// An intermediate cache that answers with an old copy, unless it is bypassed.
private struct StaleCopies: DataFetcher {
    let base: VersionedSource
    let old = Box<DataResponse>()

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.headerFields[.cacheControl] == nil, let copy = old.peek else {
            return try await base.fetch(request)
        }
        return copy
    }
}

private struct Unshared: RecordStoreDecorator {
    let base: any RecordStore
}

extension GatedSharedStore.Operation {
    fileprivate var removesEverything: Bool {
        guard case .commit(let changes) = self else { return false }
        return changes.contains { if case .removeAll = $0 { true } else { false } }
    }
}
