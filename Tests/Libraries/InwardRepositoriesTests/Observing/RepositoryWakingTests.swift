import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests of the list observers that a write wakes.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryWakingTests {
    private let stage = OutboxStage()
    private let source = VersionedSource()
    private let observer = RecordingRepositoryObserver()

    /// The number of observed lists, far more than a write may change.
    private static let listCount = Thoroughness.isExhaustive ? 1_000 : 100

    private var listReads: Int { observer.descriptions.filter { $0 == "list of remarks began" }.count }

    private func settle() async throws { try await stage.timer.sleep(for: .milliseconds(1)) }

    private func run(
        hasOutbox: Bool,
        memory: MemoryLimit = MemoryLimit(),
        _ work: @escaping @Sendable (Repository<Remark>, Outbox?) async throws -> Void
    ) async throws {
        let outbox = hasOutbox ? try stage.outbox(source) : nil
        let repository = try Repository.versioned(
            source,
            memory: memory,
            outbox: outbox,
            timer: stage.timer,
            observer: observer
        )
        try await stage.scheduler.run {
            try await outbox?.open(handlers: [repository.handler])
            try await work(repository, outbox)
            await outbox?.close()
            await repository.close()
        }
    }

    /// Observes lists during some work.
    private func observing(
        _ filters: [EntityFilter<Remark>],
        in repository: Repository<Remark>,
        _ work: ([ReadingLog<[Remark]>]) async throws -> Void
    ) async throws {
        let logs = filters.map { _ in ReadingLog<[Remark]>() }
        try await withThrowingTaskGroup { group in
            for (filter, log) in zip(filters, logs) {
                group.addTask { await log.observe(repository.changes(in: filter)) }
            }
            try await settle()
            try await work(logs)
            group.cancelAll()
        }
    }

    // MARK: Affected lists only

    @Test func writeWakesOnlyTheListsThatItMayChange() async throws {
        try await run(hasOutbox: false) { [self] repository, _ in
            try await observing((0..<Self.listCount).map { .author($0) }, in: repository) { logs in
                let count = listReads
                try await repository.update(2) { $0.author = 8 }
                try await settle()
                #expect(listReads - count == 2)
                #expect(logs[7].readings.last?.value.map(\.id) == [1, 3])
                #expect(logs[8].readings.last?.value.map(\.id) == [2])
                try await repository.delete(2)
                try await settle()
                #expect(listReads - count == 3 && logs[8].readings.last?.value == [])
                _ = try await repository.create(RemarkDTO(Remark(id: 0, author: 9, text: "new")))
                try await settle()
                #expect(listReads - count == 4 && logs[9].readings.last?.value.map(\.id) == [4])
                #expect(logs.map(\.readings.count).reduce(0, +) == Self.listCount + 4)
            }
        }
    }

    @Test func pendingWriteWakesOnlyTheListsThatItMayChange() async throws {
        try await run(hasOutbox: true) { [self] repository, outbox in
            try await observing((0..<Self.listCount).map { .author($0) }, in: repository) { logs in
                let count = listReads
                source.goOffline()
                try await repository.update(2) { $0.text = "new" }
                try await settle()
                #expect(listReads - count == 1 && logs[7].readings.last?.isPending == true)
                let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 9, text: "new"))).value
                try await settle()
                #expect(listReads - count == 2 && logs[9].readings.last?.value == [created])
                // The remark leaves one list and appears in another.
                try await repository.update(created.id) { $0.author = 10 }
                try await settle()
                #expect(listReads - count == 4)
                #expect(logs[9].readings.last?.value == [] && logs[10].readings.last?.value.map(\.id) == [created.id])
                source.goOffline(false)
                outbox?.retryNow()
                await outbox?.drain()
                try await settle()
                #expect(logs[7].readings.last?.isPending == false && logs[9].readings.last?.value == [])
                #expect(logs[10].readings.last?.value.map(\.id) == [4])
                let concerned: Set<Int> = [7, 9, 10]
                for (author, log) in logs.enumerated() where !concerned.contains(author) {
                    #expect(log.readings.count == 1)
                }
            }
        }
    }

    /// Its condition is always true, because only the upstream decides what it contains.
    @Test func listWhoseContentsOnlyTheUpstreamKnowsIsReadForEachCreation() async throws {
        try await run(hasOutbox: false) { [self] repository, _ in
            let search = EntityFilter<Remark>("search", "2") { _ in true }
            try await observing([search], in: repository) { logs in
                _ = try await repository.create(RemarkDTO(Remark(id: 0, author: 9, text: "new")))
                try await settle()
                #expect(logs[0].readings.map(\.value.count) == [3, 4])
            }
        }
    }

    /// A list that is not in memory may contain the written entity.
    @Test(arguments: [false, true]) func listThatIsNotInMemoryIsReadForEachWrite(hasOutbox: Bool) async throws {
        try await run(hasOutbox: hasOutbox, memory: .nothing) { [self] repository, outbox in
            try await observing([.author(9)], in: repository) { logs in
                source.put(Remark(id: 5, author: 9, text: "five"))
                try await repository.update(2) { $0.text = "new" }
                await outbox?.drain()
                try await settle()
                #expect(logs[0].readings.map { $0.value.map(\.id) } == [[], [5]])
            }
        }
    }

    /// The observer shows a list that differs from the one in memory.
    @Test func observerThatShowsAFallbackIsWokenByEachWrite() async throws {
        let fallback = RecordingDataFetcher(
            StubDataFetcher(DataResponse(body: Data(#"[{"id": 5, "author": 7, "text": "five"}]"#.utf8)))
        )
        let repository = try Repository.versioned(
            source.fallingBack(to: fallback),
            lifetimes: Lifetimes(staleAfter: .seconds(1), staleIfError: .zero),
            timer: stage.timer,
            observer: observer
        )
        try await stage.scheduler.run { [self] in
            _ = try await repository.entities()
            try await stage.timer.sleep(for: .seconds(2))
            source.goOffline()
            try await observing([.all], in: repository) { logs in
                #expect(logs[0].readings.last?.value.map(\.id) == [5])
                #expect(logs[0].readings.last?.fallbackReason != nil)
                let count = listReads
                source.goOffline(false)
                try await repository.delete(5)
                try await settle()
                #expect(listReads > count)
                #expect(logs[0].readings.last?.value.map(\.id) == [1, 2, 3])
            }
            await repository.close()
        }
    }

    @Test func unchangedListIsReadOnceWithoutAReading() async throws {
        try await run(hasOutbox: false) { [self] repository, _ in
            try await observing([.author(7)], in: repository) { logs in
                let (count, requests) = (listReads, source.requests.count)
                repository.observers.lists.notifyAll()
                try await settle()
                #expect(listReads - count == 1 && source.requests.count == requests)
                #expect(logs[0].readings.count == 1)
            }
        }
    }

    // MARK: Random order

    /// A seed determines the order of the writes, deliveries and reads.
    @Test(arguments: Thoroughness.sample([UInt64](0..<40), every: 5))
    func allObserversEndWithTheCurrentValue(seed: UInt64) async throws {
        let stage = OutboxStage(seed: seed)
        let outbox = seed.isMultiple(of: 2) ? try stage.outbox(source) : nil
        let repository = try Repository.versioned(source, outbox: outbox, timer: stage.timer)
        let filters: [EntityFilter<Remark>] = [.all, .author(7), .author(8), .author(9)]
        try await stage.scheduler.run { [source] in
            try await outbox?.open(handlers: [repository.handler])
            let logs = filters.map { _ in ReadingLog<[Remark]>() }
            try await withThrowingTaskGroup { group in
                for (filter, log) in zip(filters, logs) {
                    group.addTask { await log.observe(repository.changes(in: filter)) }
                }
                try await withThrowingTaskGroup(of: Void.self) { writers in
                    for number in 0..<4 {
                        writers.addTask { _ = try? await repository.update(2) { $0.author = 7 + number % 3 } }
                        writers.addTask {
                            let draft = RemarkDTO(Remark(id: 0, author: 7 + number % 3, text: "new"))
                            let created = try await repository.create(draft).value
                            _ = try? await repository.update(created.id) { $0.author = 8 }
                            if number == 3 { try await repository.delete(created.id) }
                        }
                        writers.addTask { _ = try await repository.entities(.author(7), .upstreamOnly) }
                        writers.addTask { _ = try? await repository.entity(2, .upstreamOnly) }
                    }
                    try await writers.waitForAll()
                }
                await outbox?.drain()
                try await stage.timer.sleep(for: .milliseconds(1))
                for (filter, log) in zip(filters, logs) {
                    let known = try await repository.entities(filter)
                    #expect(log.readings.last?.value == known.value && !known.isPending)
                    #expect(log.readings.last?.isPending == false)
                }
                #expect(logs.first?.readings.last?.value.map(\.id).sorted() == source.remarks.map(\.id))
                group.cancelAll()
            }
            await outbox?.close()
            await repository.close()
        }
    }
}
