import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Observing reads and writes without an outbox.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryObservingTests {
    private let scheduler = DeterministicScheduler(seed: 7)
    private let source = VersionedSource()
    private let anew = Remark(id: 2, author: 7, text: "anew")

    private func repository(
        lifetimes: Lifetimes = Lifetimes(),
        memory: MemoryLimit = MemoryLimit(),
        store: RepositoryStore? = nil
    ) throws -> Repository<Remark> {
        try .versioned(source, lifetimes: lifetimes, memory: memory, store: store, timer: scheduler.timer)
    }

    /// Runs work during an observation, and then ends the observation.
    private func run<Value>(
        _ changes: ReadingChanges<Value>,
        _ work: @escaping @Sendable (ReadingLog<Value>) async throws -> Void
    ) async throws {
        let log = ReadingLog<Value>()
        try await scheduler.run { [self] in
            try await withThrowingTaskGroup { group in
                group.addTask { await log.observe(changes) }
                try await settle()
                try await work(log)
                try await settle()
                group.cancelAll()
            }
        }
        #expect(log.hasEnded)
    }

    /// Waits until all tasks are suspended.
    private func settle() async throws { try await scheduler.timer.sleep(for: .milliseconds(1)) }

    // MARK: Readings

    @Test func firstReadingIsAnOrdinaryReadWithThePolicy() async throws {
        let repository = try repository()
        try await scheduler.run { [source, anew] in
            _ = try await repository.entity(2)
            source.put(anew)
            var kept = repository.changes(of: 2).makeAsyncIterator()
            #expect(try await kept.next()?.value?.text == "2")
            var fetched = repository.changes(of: 2, .upstreamOnly).makeAsyncIterator()
            #expect(try await fetched.next() == Reading(anew, origin: .upstream))
            var list = repository.changes(in: .all).makeAsyncIterator()
            #expect(try await list.next()?.value == source.remarks)
        }
    }

    @Test func errorOfTheFirstReadEndsTheSequence() async throws {
        let repository = try repository()
        source.goOffline()
        try await scheduler.run { () async throws -> Void in
            var iterator = repository.changes(of: 2).makeAsyncIterator()
            #expect(await iterator.failure() == .unavailable)
            #expect(try await iterator.next() == nil)
            #expect(repository.observers.entities.count == 0)
        }
    }

    @Test func observersSeeWhatAnotherReaderFetches() async throws {
        let repository = try repository()
        try await run(repository.changes(of: 2)) { [self] log in
            source.put(anew)
            _ = try await repository.entity(2, .upstreamOnly)
            try await settle()
            #expect(log.readings.map(\.value?.text) == ["2", "anew"])
            #expect(log.readings.last?.origin == .memory)
            source.remove(2)
            _ = await repository.failure(2, .upstreamOnly)
            try await settle()
            #expect(log.readings.map(\.value?.text) == ["2", "anew", nil])
            source.put(anew)
            _ = try await repository.entities(.all, .upstreamOnly)
            try await settle()
            #expect(log.readings.map(\.value?.text) == ["2", "anew", nil, "anew"])
        }
    }

    @Test func equalReadingsAreNotRepeated() async throws {
        let repository = try repository()
        try await run(repository.changes(of: 2)) { [self] log in
            _ = try await repository.entity(2, .upstreamOnly)
            _ = try await repository.entities(.all, .upstreamOnly)
            source.put(Remark(id: 1, author: 7, text: "other"))
            _ = try await repository.entity(1, .upstreamOnly)
            try await repository.update(2) { $0.text = "2" }
            try await settle()
            #expect(log.readings.map(\.value?.text) == ["2"])
        }
    }

    @Test func listChangesWithItsEntities() async throws {
        let repository = try repository()
        _ = try await scheduler.run { try await repository.entities(.author(8)) }
        try await run(repository.changes(in: .all)) { [self] log in
            source.put(anew)
            _ = try await repository.entity(2, .upstreamOnly)
            try await settle()
            source.put(Remark(id: 4, author: 7, text: "4"))
            _ = try await repository.entities(.all, .upstreamOnly)
            try await settle()
            let texts = log.readings.map { $0.value.map(\.text) }
            #expect(texts == [["1", "2", "3"], ["1", "anew", "3"], ["1", "anew", "3", "4"]])
        }
    }

    @Test func writesWithoutAnOutboxAreSeen() async throws {
        let repository = try repository()
        try await run(repository.changes(in: .all)) { [self] log in
            try await repository.update(2) { $0.text = "new" }
            try await settle()
            let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "created")))
            try await settle()
            try await repository.delete(created.value.id)
            try await settle()
            let texts = log.readings.map { $0.value.map(\.text) }
            #expect(texts == [["1", "2", "3"], ["1", "new", "3"], ["1", "new", "3", "created"], ["1", "new", "3"]])
        }
    }

    @Test func freshReadingConfirmsAStaleOne() async throws {
        let source = RemarkSource()
        let lifetimes = Lifetimes(staleAfter: .seconds(60), staleWhileRevalidate: .seconds(600))
        let repository = try Repository.remarks(source, scheduler.timer, lifetimes: lifetimes)
        try await scheduler.run { _ = try await repository.entity(1) }
        scheduler.clock.advance(by: .seconds(90))
        try await run(repository.changes(of: 1)) { log in
            #expect(log.readings.map(\.isStale) == [true, false] && log.readings.map(\.value?.text) == ["one", "one"])
        }
        #expect(source.requests.count == 2)
    }

    @Test func slowReaderGetsOnlyTheNewestReading() async throws {
        let repository = try repository()
        try await scheduler.run { [self] in
            var iterator = repository.changes(of: 2).makeAsyncIterator()
            #expect(try await iterator.next()?.value?.text == "2")
            for number in 1...100 {
                source.put(Remark(id: 2, author: 7, text: "\(number)"))
                _ = try await repository.entity(2, .upstreamOnly)
            }
            #expect(try await iterator.next()?.value?.text == "100")
            source.put(anew)
            _ = try await repository.entity(2, .upstreamOnly)
            #expect(try await iterator.next()?.value?.text == "anew")
        }
    }

    @Test func entitiesWithoutEquatableAreComparedByTheirRecords() async throws {
        struct Note: Identifiable, Sendable {
            let id: Int
            let text: String
        }
        struct NoteDTO: RecordDTO {
            static let listName = "notes"
            let id: Int
            let text: String

            init(_ note: Note) { (id, text) = (note.id, note.text) }

            func entity() throws(FieldError) -> Note { Note(id: id, text: text) }
        }
        let repository = Repository(
            Endpoint(NoteDTO.self, at: "remarks"),
            upstream: try .example(source),
            timer: scheduler.timer
        )
        try await run(repository.changes(in: .all)) { [self] log in
            _ = try await repository.entities(.all, .upstreamOnly)
            try await settle()
            source.put(anew)
            _ = try await repository.entity(2, .upstreamOnly)
            try await settle()
            #expect(log.readings.map { $0.value.map(\.text) } == [["1", "2", "3"], ["1", "anew", "3"]])
        }
    }

    // MARK: Invalidations

    @Test func invalidatedValueIsFetchedAgain() async throws {
        let repository = try repository()
        try await run(repository.changes(of: 2)) { [self] log in
            source.put(anew)
            repository.invalidate(2)
            try await settle()
            #expect(log.readings.map(\.value?.text) == ["2", "anew"])
            let count = source.requests.count
            repository.invalidate(1)
            try await settle()
            #expect(source.requests.count == count)
        }
    }

    @Test func cacheOnlyObserverDoesNotAskTheUpstream() async throws {
        let repository = try repository()
        _ = try await scheduler.run { try await repository.entity(2) }
        try await run(repository.changes(of: 2, .cacheOnly)) { [self] log in
            source.put(anew)
            repository.invalidateAll()
            try await settle()
            #expect(source.requests.count == 1 && !log.hasEnded)
            _ = try await repository.entity(2)
            try await settle()
            #expect(log.readings.map(\.value?.text) == ["2", "anew"])
        }
    }

    @Test func unavailableUpstreamDoesNotEndTheSequence() async throws {
        let repository = try repository()
        try await run(repository.changes(in: .all)) { [self] log in
            source.goOffline()
            repository.invalidateAll()
            try await settle()
            #expect(log.readings.count == 1 && !log.hasEnded)
            source.goOffline(false)
            source.put(anew)
            _ = try await repository.entities()
            try await settle()
            #expect(log.readings.last?.value.map(\.text) == ["1", "anew", "3"])
        }
    }

    /// Otherwise, the result of its own fetch would count as a change and cause another fetch.
    @Test(arguments: [false, true]) func observerWithoutRoomInMemoryDoesNotFetchForever(hasStore: Bool) async throws {
        let store = RepositoryStore(InMemoryRecordStore(now: { OutboxStage.time }), partition: []) {
            OutboxStage.time
        } reportFailure: { _ in
        }
        let repository = try repository(memory: .nothing, store: hasStore ? store : nil)
        for filter in [nil, EntityFilter<Remark>.all] {
            let work: @Sendable () async throws -> Void = { [self] in
                source.put(Remark(id: 2, author: 7, text: filter == nil ? "b" : "c"))
                let count = source.requests.count
                try await repository.update(2) { $0.text = "\($0.text)!" }
                try await settle()
                #expect(source.requests.count < count + 10)
            }
            if let filter {
                try await run(repository.changes(in: filter)) { log in
                    try await work()
                    #expect(log.readings.last?.value.map(\.text) == ["1", "c!", "3"])
                }
            } else {
                try await run(repository.changes(of: 2)) { log in
                    try await work()
                    #expect(log.readings.last?.value?.text == "b!")
                }
            }
        }
    }

    /// Otherwise, the result of its own fetch would count as a change and cause another fetch.
    @Test func responseThatArrivesExpiredIsNotFetchedForever() async throws {
        let slow = StubDataFetcher { [source, scheduler] request throws(FetchError) in
            try? await scheduler.timer.sleep(for: .microseconds(10))
            return try await source.fetch(request)
        }
        let lifetimes = Lifetimes(staleAfter: .zero, expiresAfter: .zero)
        let repository = try Repository<Remark>.versioned(slow, lifetimes: lifetimes, timer: scheduler.timer)
        try await run(repository.changes(of: 2)) { log in
            #expect(log.readings.map(\.value?.text) == ["2"])
        }
        try await run(repository.changes(in: .all)) { log in
            #expect(log.readings.map(\.value.count) == [3])
        }
        #expect(source.requests.count == 2)
    }

    // MARK: End

    @Test func cancellationEndsTheSequence() async throws {
        let repository = try repository()
        let log = ReadingLog<Remark?>()
        try await scheduler.run { [self] in
            try await withThrowingTaskGroup { group in
                group.addTask { await log.observe(repository.changes(of: 2)) }
                try await settle()
                #expect(repository.observers.entities.count == 1)
                group.cancelAll()
            }
        }
        #expect(log.hasEnded && log.failure == nil && log.readings.count == 1)
        #expect(repository.observers.entities.count == 0)
    }

    @Test func closingEndsTheSequenceWithAnError() async throws {
        let repository = try repository()
        let (ones, lists) = (ReadingLog<Remark?>(), ReadingLog<[Remark]>())
        try await scheduler.run { [self] in
            try await withThrowingTaskGroup { group in
                group.addTask { await ones.observe(repository.changes(of: 2)) }
                group.addTask { await lists.observe(repository.changes(in: .all)) }
                try await settle()
                await repository.close()
                try await group.waitForAll()
            }
            var late = repository.changes(of: 2).makeAsyncIterator()
            #expect(await late.failure() == .closed)
        }
        #expect(ones.failure == .closed && lists.failure == .closed)
        #expect(repository.observers.entities.count == 0 && repository.observers.lists.count == 0)
    }

    @Test func deadlineOfTheTaskEndsTheWait() async throws {
        let repository = try repository()
        try await scheduler.run { [scheduler] in
            var iterator = repository.changes(in: .all).makeAsyncIterator()
            _ = try await iterator.next()
            let reason = await Deadline(in: .seconds(5), on: scheduler.timer).carried { await iterator.failure() }
            #expect(reason == .success(.unavailable) && scheduler.clock.now.offset >= .seconds(5))
            #expect(repository.observers.lists.count == 0)
        }
    }

    @Test func observerIsRemovedWithItsIterator() async throws {
        let repository = try repository()
        try await scheduler.run {
            let changes = repository.changes(of: 2)
            #expect(repository.observers.entities.count == 0)
            do {
                var first = changes.makeAsyncIterator()
                var second = changes.makeAsyncIterator()
                _ = try await (first.next(), second.next())
                #expect(repository.observers.entities.count == 2)
            }
            #expect(repository.observers.entities.count == 0)
            for try await _ in changes { break }
            #expect(repository.observers.entities.count == 0)
        }
    }
}
