import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryClosingTests {
    private let scheduler = DeterministicScheduler(seed: 7)
    private let records = RecordingRecordStore(
        InMemoryRecordStore(now: { Date(timeIntervalSinceReferenceDate: 0) })
    )

    private func repository(
        _ source: any DataFetcher,
        whenAbandoned abandonment: AbandonmentPolicy = .cancel
    ) throws -> Repository<Remark> {
        let place = RepositoryStore(records, partition: []) {
            Date(timeIntervalSinceReferenceDate: 0)
        } reportFailure: { _ in
        }
        return try .remarks(
            source,
            scheduler.timer,
            lifetimes: Lifetimes(staleAfter: .seconds(60), staleWhileRevalidate: .seconds(600)),
            store: place,
            whenAbandoned: abandonment
        )
    }

    @Test func closedRepositoryFailsAllReads() async throws {
        let repository = try repository(RemarkSource())
        try await scheduler.run {
            _ = try await repository.entities()
            await repository.close()
            for policy in [ReadPolicy.cacheFirst, .upstreamOnly, .cacheOnly, .upstreamFirst] {
                #expect(await repository.failure(1, policy) == .closed)
                await #expect(throws: RepositoryError.self) { try await repository.entities(.all, policy) }
            }
            await #expect(throws: RepositoryError.self) {
                try await repository.send(Remark(id: 4, author: 7, text: "four"))
            }
        }
    }

    @Test(arguments: [AbandonmentPolicy.cancel, .finish])
    func closingStopsCachingWhatArrivesLater(abandonment: AbandonmentPolicy) async throws {
        let source = RemarkSource { [scheduler] _ in
            // The response is late, and arrives although the request is cancelled.
            await Task(executorPreference: scheduler.executor) {
                try? await scheduler.clock.sleep(for: .seconds(5))
            }.value
        }
        let repository = try repository(source, whenAbandoned: abandonment)
        try await scheduler.run { [scheduler, records] in
            async let waiting = repository.failure(1)
            async let absent = repository.failure(9)
            try await scheduler.clock.sleep(for: .seconds(1))
            await repository.close()
            #expect(await [waiting, absent] == [nil, .notFound])
            await repository.flush()
            #expect(records.commits.isEmpty)
        }
    }

    @Test func closingCancelsAbandonedFetches() async throws {
        let isCancelled = Atomic(false)
        let source = RemarkSource { [scheduler] _ in
            do {
                try await scheduler.clock.sleep(for: .seconds(5))
            } catch {
                isCancelled.store(true, ordering: .relaxed)
                throw error
            }
        }
        let repository = try repository(source, whenAbandoned: .finish)
        try await scheduler.run { [scheduler] in
            let only = Task(executorPreference: scheduler.executor) { await repository.failure(1) }
            try await scheduler.clock.sleep(for: .seconds(1))
            only.cancel()
            #expect(await only.value == .cancelled)
            await repository.close()
        }
        try await scheduler.drain()
        let wasCancelled = isCancelled.load(ordering: .relaxed)
        #expect(wasCancelled)
    }

    @Test(arguments: [AbandonmentPolicy.cancel, .finish])
    func closingEndsDetachedRequests(abandonment: AbandonmentPolicy) async throws {
        let source = RemarkSource { [scheduler] _ in try await scheduler.clock.sleep(for: .seconds(5)) }
        let repository = try repository(source, whenAbandoned: abandonment)
        try await scheduler.run { [scheduler] in
            async let waiting = repository.failure(1)
            try await scheduler.clock.sleep(for: .seconds(1))
            repository.invalidateAll()
            await repository.close()
            #expect(await waiting == .closed)
            #expect(scheduler.clock.now.offset == .seconds(1))
        }
    }

    /// A graceful shutdown waits for requests and closes the repositories at once, perhaps before the readers have their answers.
    @Test func readThatIsAnsweredIsReturnedAlthoughTheRepositoryIsClosed() async throws {
        let opened = Mutex<Repository<Remark>?>(nil)
        let source = RemarkSource { _ in await opened.withLock(\.self)?.close() }
        let repository = try repository(source)
        opened.withLock { $0 = repository }
        try await scheduler.run { [records] in
            let text = try await repository.entity(1).value.text
            #expect(text == "one")
            #expect(await repository.failure(1) == .closed)
            #expect(records.commits.isEmpty)
        }
    }

    @Test func denialThatClosesTheRepositoryIsTheErrorOfItsRead() async throws {
        let opened = Mutex<Repository<Remark>?>(nil)
        let repository = try repository(
            StubDataFetcher { _ in
                await opened.withLock(\.self)?.close()
                return DataResponse(status: .unauthorized)
            }
        )
        opened.withLock { $0 = repository }
        try await scheduler.run {
            #expect(await repository.failure(1) == .denied)
            #expect(await repository.failure(1) == .closed)
        }
    }

    @Test func readThatBeginsDuringClosingEnds() async throws {
        let closing = Promise<Task<Void, Never>>()
        let opened = Mutex<Repository<Remark>?>(nil)
        let source = RemarkSource { [scheduler] _ in
            // The read has begun, and its caller is not waiting for it yet.
            guard let repository = opened.withLock(\.self) else { return }
            closing.fulfill(Self.atOnce(scheduler) { await repository.close() })
            // Only cancellation ends this wait.
            await Rendezvous(of: 2).arrive()
            try Task.checkCancellation()
        }
        let repository = try repository(source)
        opened.withLock { $0 = repository }
        try await scheduler.run {
            #expect(await repository.failure(1) == .closed)
            guard case .fulfilled(let task) = await closing.value() else { return }
            await task.value
        }
    }

    /// Runs work on the calling thread up to its first wait, where the system supports that.
    private static func atOnce(
        _ scheduler: DeterministicScheduler,
        _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            return Task.immediate(executorPreference: scheduler.executor) { await work() }
        }
        return Task(executorPreference: scheduler.executor) { await work() }
    }

    @Test func closingEndsRefreshes() async throws {
        let cancellations = Atomic(0)
        let isSlow = Atomic(false)
        let source = RemarkSource { [scheduler] _ in
            guard isSlow.load(ordering: .relaxed) else { return }
            do {
                try await scheduler.clock.sleep(for: .seconds(5))
            } catch {
                cancellations.add(1, ordering: .relaxed)
                throw error
            }
        }
        let repository = try repository(source)
        try await scheduler.run { [scheduler] in
            _ = try await repository.entity(1)
            _ = try await repository.entities()
            isSlow.store(true, ordering: .relaxed)
            scheduler.clock.advance(by: .seconds(61))
            #expect(try await repository.entity(1).isStale)
            #expect(try await repository.entities().isStale)
            #expect(repository.cache.entities.refreshes.count == 1 && repository.cache.lists.refreshes.count == 1)
            try await scheduler.clock.sleep(for: .seconds(1))
            await repository.close()
            #expect(repository.cache.entities.refreshes.count == 0 && repository.cache.lists.refreshes.count == 0)
        }
        try await scheduler.drain()
        #expect(source.requests.count == 4)
        let count = cancellations.load(ordering: .relaxed)
        #expect(count == 2)
    }

    @Test func pendingStoreWritesAreDoneAfterClosing() async throws {
        let source = RemarkSource()
        let repository = try repository(source)
        try await scheduler.run { [records] in
            _ = try await repository.entities()
            await repository.close()
            #expect(try await records.records(under: ["remarks"]).count == 4)
        }
    }

    @Test func writeThatEndsAfterClosingIsNotHiddenByAnOlderList() async throws {
        let source = RemarkSource { [scheduler] request in
            if request.method == .post { try await scheduler.clock.sleep(for: .seconds(5)) }
        }
        let repository = try repository(source)
        try await scheduler.run { [records, scheduler] in
            _ = try await repository.entities()
            let writing = Task(executorPreference: scheduler.executor) {
                try await repository.send(Remark(id: 4, author: 7, text: "four"))
            }
            try await scheduler.clock.sleep(for: .seconds(1))
            await repository.close()
            _ = try await writing.value
            await repository.flush()
            let list = try await records.record(for: ["remarks", "lists"])
            #expect(list.map { String(decoding: $0.bytes, as: UTF8.self).contains("4") } ?? true)
        }
    }
}
