import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache over a store that fails, takes its time, or has several callers.
@Suite(.timeLimit(.minutes(5)))
struct KeepingResponsesFailureTests {
    private let caches = RestartedCaches()
    private let failure = ResponseStoreError(explanation: "The store is not available.")

    // MARK: Failures of the store

    @Test func cacheWorksWithoutTheStore() async throws {
        let reports = Mutex<[ResponseStoreError]>([])
        caches.store.fail(with: failure)
        let stage = CacheStage(
            .shared,
            clock: caches.clock,
            over: caches.store,
            reportFailure: { failure in reports.withLock { $0.append(failure) } },
            upstream: ScriptedDataFetcher([.fresh("1")])
        )
        #expect(try await stage.get().text == "1")
        #expect(await !stage.partition.flush())
        #expect(try await stage.get().isReused)
        #expect(reports.withLock { Set($0) } == [failure])
    }

    @Test func removedResponseIsNotFoundAlthoughTheStoreCannotRemoveIt() async throws {
        let stage = caches.stage(.shared, .fresh())
        _ = try await stage.get()
        await stage.partition.flush()
        caches.store.fail(with: failure)
        stage.partition.remove(try stage.request().url)
        #expect(await !stage.partition.flush())
        caches.store.fail(with: nil)
        // Before anything is written again.
        #expect(try await stage.get("Cache-Control: only-if-cached").status == 504)
        #expect(await stage.partition.flush())
        #expect(caches.store.urls.isEmpty)
    }

    @Test func responseThatCouldNotBeKeptDoesNotLeaveAnOlderOne() async throws {
        let stage = caches.stage(
            .shared,
            .fresh("1"),
            .response("2", "Cache-Control: max-age=600")
        )
        _ = try await stage.get()
        await stage.partition.flush()
        caches.clock.advance(by: .seconds(60))
        caches.store.fail(with: failure)
        _ = try await stage.get()
        await stage.partition.flush()
        caches.store.fail(with: nil)
        await stage.partition.flush()
        #expect(caches.store.urls.isEmpty)
        #expect(try await stage.get().text == "2")
    }

    @Test func failureKeepsWhatWasWrittenBefore() async throws {
        let held = HeldResponseStore(holding: .commits, failingCommit: 2)
        let answers = Array(repeating: FetchFixture.fresh(), count: 151)
        let stage = CacheStage(.shared, clock: caches.clock, over: held, upstream: ScriptedDataFetcher(answers))
        _ = try await stage.get(path: "first")
        await held.isCommitting.wait()
        for number in 0..<150 { _ = try await stage.get(path: "\(number)") }
        // Waits before the store is released. Otherwise, the failure could come first.
        let flush = Task.startingHere(on: nil) { await stage.partition.flush() }
        held.isReleased.fulfill(())
        #expect(await !flush.value)
        #expect(await stage.partition.flush())
        #expect(held.commits.map(\.count) == [1, 100, 50, 50])
        #expect(Set(held.commits[3]).isDisjoint(with: held.commits[1]))
    }

    /// The limit is 32 MiB.
    @Test func responsesForWhichTheQueueHasNoSpaceAreRemoved() async throws {
        let held = HeldResponseStore(holding: .commits)
        let text = String(repeating: "a", count: 20_000_000)
        let stage = CacheStage(
            .shared,
            clock: caches.clock,
            over: held,
            byteLimit: 500_000_000,
            upstream: ScriptedDataFetcher([.fresh(), .fresh(text), .fresh(text), .fresh()])
        )
        _ = try await stage.get(path: "first")
        await held.isCommitting.wait()
        for path in ["large", "too-large", "small"] { _ = try await stage.get(path: path) }
        held.isReleased.fulfill(())
        #expect(await stage.partition.flush())
        let changes = held.commits[1]
        #expect(changes.count == 3)
        #expect(changes.contains(.remove(under: "http://upstream.test/too-large")))
        let kept = changes.compactMap { if case .keep(let responses, _) = $0 { responses[0].body.count } else { nil } }
        #expect(Set(kept) == [20_000_000, 0])
    }

    /// Storing a response is not a use of it.
    @Test(arguments: [true, false]) func scanDoesNotDisplaceAResponseThatIsUsed(isOverStore: Bool) async throws {
        let text = String(repeating: "a", count: 2_000)
        let stage = CacheStage(
            .shared,
            clock: caches.clock,
            over: isOverStore ? HeldResponseStore(holding: .commits) : nil,
            byteLimit: 12_000,
            upstream: ScriptedDataFetcher(Array(repeating: .fresh(text), count: 12))
        )
        _ = try await stage.get(path: "used")
        #expect(try await stage.get(path: "used").isReused)
        for number in 0..<10 { _ = try await stage.get(path: "\(number)") }
        #expect(try await stage.get(path: "used", "Cache-Control: only-if-cached").isReused)
        #expect(stage.requests.count == 11)
        #expect(try await stage.get(path: "used").text == text)
    }

    // MARK: Concurrency

    @Test func concurrentMissesAreOneSearch() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let slow = SlowResponseStore(caches.store, on: scheduler.timer) { .seconds(1) }
        let cache = ResponseCache(byteLimit: 100_000, clock: scheduler.clock, executor: scheduler.executor)
        let fetcher = ScriptedDataFetcher([.fresh("1")]).caching(in: cache.makePartition(over: slow))
        let request = try DataRequest.example()
        try await scheduler.run {
            try await withThrowingTaskGroup(of: DataResponse.self) { group in
                for _ in 0..<10 { group.addTask { try await fetcher.fetch(request) } }
                for try await response in group { #expect(response.text == "1") }
            }
        }
        #expect(slow.searchCount == 1)
    }

    @Test(
        arguments: [
            { $0.remove($1) }, { partition, _ in partition.removeAll() },
            { partition, _ in partition.removeAll(tagged: "a") },
        ] as [@Sendable (ResponseCache.Partition, URL) -> Void]
    )
    func responseThatIsRemovedDuringTheSearchIsNotUsed(
        remove: @Sendable (ResponseCache.Partition, URL) -> Void
    ) async throws {
        let before = caches.stage(.shared, .fresh("1", "Cache-Tag: a"))
        _ = try await before.get()
        await before.partition.flush()
        let held = HeldResponseStore(try await caches.store.responses(for: "http://upstream.test/"))
        let stage = CacheStage(
            .shared,
            clock: caches.clock,
            over: held,
            upstream: ScriptedDataFetcher([.response("2")])
        )
        async let response = stage.get()
        await held.isSearching.wait()
        remove(stage.partition, try stage.request().url)
        held.isReleased.fulfill(())
        #expect(try await response.text == "2")
    }

    @Test func responseIsNotFoundWhileItsRemovalIsWritten() async throws {
        let before = caches.stage(.shared, .fresh("1", "Cache-Tag: a"))
        _ = try await before.get()
        await before.partition.flush()
        let now = before.cache.now.date
        let scheduler = DeterministicScheduler(seed: 7)
        let slow = SlowResponseStore(caches.store, on: scheduler.timer) { .seconds(1) }
        let cache = ResponseCache(byteLimit: 100_000, clock: scheduler.clock, executor: scheduler.executor) { now }
        let partition = cache.makePartition(.shared, over: slow)
        let fetcher = ScriptedDataFetcher([.response("2")]).caching(in: partition)
        let request = try before.request()
        try await scheduler.run {
            partition.removeAll(tagged: "a")
            try await scheduler.timer.sleep(for: .milliseconds(500))
            #expect(try await fetcher.fetch(request).text == "2")
        }
    }

    @Test func slowStoreIsEmptiedInTheEndInsteadOfKeepingEverythingInMemory() async throws {
        let held = HeldResponseStore(holding: .commits)
        let stage = CacheStage(.shared, clock: caches.clock, over: held, upstream: ScriptedDataFetcher([]))
        stage.partition.remove(try stage.request().url)
        await held.isCommitting.wait()
        for number in 0...10_001 { stage.partition.remove(try stage.request(path: "\(number)").url) }
        held.isReleased.fulfill(())
        #expect(await stage.partition.flush())
        #expect(held.commits.contains([.removeAll]))
        #expect(held.commits.reduce(0) { $0 + $1.count } < 10_000)
    }

    @Test func storeThatCannotRemoveAnythingIsEmptiedInTheEnd() async throws {
        let stage = caches.stage()
        caches.store.fail(with: failure)
        for number in 0..<200 {
            stage.partition.removeAll(tagged: "\(number)")
            await stage.partition.flush()
        }
        caches.store.fail(with: nil)
        #expect(await stage.partition.flush())
        #expect(caches.store.commits == [[.removeAll]])
    }
}
