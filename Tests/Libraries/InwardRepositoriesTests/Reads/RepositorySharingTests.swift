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
struct RepositorySharingTests {
    private let scheduler = DeterministicScheduler(seed: 7)

    /// Returns an upstream that takes one second for each response.
    private func slowSource(cancelled: @escaping @Sendable () -> Void = {}) -> RemarkSource {
        RemarkSource { [scheduler] _ in
            do {
                try await scheduler.clock.sleep(for: .seconds(1))
            } catch {
                cancelled()
                throw error
            }
        }
    }

    @Test func tenThousandConcurrentReadsShareOneRequest() async throws {
        let source = slowSource()
        let repository = try Repository<Remark>.remarks(source, scheduler.timer)
        let texts = try await scheduler.run {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<10_000 { group.addTask { try await repository.entity(1).value.text } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(texts == Array(repeating: "one", count: 10_000))
        #expect(source.requests.count == 1)
    }

    @Test func tenThousandReadsOnAllThreadsShareOneRequest() async throws {
        let source = RemarkSource()
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()))
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10_000 { group.addTask { try await repository.entities(.author(7)).value.count } }
            return try await group.reduce(0, +)
        }
        #expect(count == 20_000)
        #expect(source.requests.count == 1)
    }

    @Test func readerDoesNotFetchWhatAnotherHasJustCached() async throws {
        let (isAsked, isReleased) = (Rendezvous(of: 2), Promise<Void>())
        let source = RemarkSource { _ in
            await isAsked.arrive()
            _ = await isReleased.value()
        }
        let (isLooking, goesOn) = (Rendezvous(of: 2), Promise<Void>())
        let looks = Atomic(0)
        let store = HeldRecordStore(base: InMemoryRecordStore()) {
            guard looks.add(1, ordering: .relaxed).newValue == 2 else { return }
            await isLooking.arrive()
            _ = await goesOn.value()
        }
        let place = RepositoryStore(store, partition: []) {
            Date()
        } reportFailure: { _ in
        }
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()), store: place)
        async let first = repository.entity(1)
        await isAsked.arrive()
        async let second = repository.entity(1)
        await isLooking.arrive()
        isReleased.fulfill(())
        #expect(try await first.origin == .upstream)
        goesOn.fulfill(())
        #expect(try await second.value.text == "one")
        #expect(source.requests.count == 1)
    }

    /// The upstream may have answered the request in flight before the write, which may have been done.
    @Test func readAfterAFailedWriteDoesNotJoinEarlierRequests() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = RemarkSource.holdingTheFirstAnswer(begun: begun, until: isReleased)
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()))
        async let older = repository.entity(1)
        await begun.arrive()
        source.fail(.interrupted)
        await #expect(throws: RepositoryError.self) {
            try await repository.send(Remark(id: 9, author: 7, text: "nine"))
        }
        source.fail(nil)
        #expect(try await repository.entity(1).value.text == "one")
        isReleased.fulfill(())
        _ = try await older
    }

    @Test func readThatAcceptsCopiesJoinsAStricterOne() async throws {
        let source = slowSource()
        let repository = try Repository<Remark>.remarks(source, scheduler.timer)
        try await scheduler.run { [scheduler] in
            async let strict = repository.entity(1, .upstreamOnly)
            try await scheduler.clock.sleep(for: .seconds(0.5))
            async let lenient = repository.entity(1)
            _ = try await (strict, lenient)
        }
        #expect(source.requests.count == 1)
    }

    @Test func readThatAcceptsNoCopiesDoesNotJoinALessStrictOne() async throws {
        let source = slowSource()
        let repository = try Repository<Remark>.remarks(source, scheduler.timer)
        try await scheduler.run { [scheduler] in
            async let lenient = repository.entity(1)
            try await scheduler.clock.sleep(for: .seconds(0.5))
            async let strict = repository.entity(1, .upstreamOnly)
            _ = try await (strict, lenient)
        }
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == [nil, "no-cache"])
    }

    @Test func cancelledReaderDoesNotEndTheRequest() async throws {
        let source = slowSource()
        let repository = try Repository<Remark>.remarks(source, scheduler.timer)
        try await scheduler.run { [scheduler] in
            let first = Task(executorPreference: scheduler.executor) { await repository.failure(1) }
            async let second = repository.entity(1)
            try await scheduler.clock.sleep(for: .seconds(0.5))
            first.cancel()
            #expect(await first.value == .cancelled)
            #expect(try await second.value.text == "one")
        }
        #expect(source.requests.count == 1)
    }

    @Test func deadlineOfOneReaderDoesNotEndTheRequest() async throws {
        let source = slowSource()
        let repository = try Repository<Remark>.remarks(source, scheduler.timer)
        try await scheduler.run { [scheduler] () async throws -> Void in
            async let first = Deadline(in: .seconds(0.5), on: scheduler.timer).carried {
                () async throws(RepositoryError) in try await repository.entity(1)
            }
            async let second = repository.entity(1)
            let result = await first
            let error = #expect(throws: RepositoryError.self) { try result.get() }
            #expect(error?.reason == .unavailable && error?.canRetry == true)
            #expect(error?.explanation == "was not answered before the deadline")
            let text = try await second.value.text
            #expect(text == "one")
        }
        #expect(source.requests.count == 1)
    }

    @Test(arguments: [AbandonmentPolicy.cancel, .finish])
    func abandonedRequestFollowsItsPolicy(abandonment: AbandonmentPolicy) async throws {
        let cancellations = Atomic(0)
        let source = slowSource { cancellations.add(1, ordering: .relaxed) }
        let repository = try Repository<Remark>.remarks(source, scheduler.timer, whenAbandoned: abandonment)
        try await scheduler.run { [scheduler] in
            let only = Task(executorPreference: scheduler.executor) { await repository.failure(1) }
            try await scheduler.clock.sleep(for: .seconds(0.5))
            only.cancel()
            #expect(await only.value == .cancelled)
        }
        try await scheduler.drain()
        let count = cancellations.load(ordering: .relaxed)
        #expect(count == (abandonment == .cancel ? 1 : 0))
        try await scheduler.run {
            #expect(await repository.failure(1, .cacheOnly) == (abandonment == .cancel ? .unavailable : nil))
        }
    }

    @Test func failureReachesAllWaitersAndIsNotCached() async throws {
        let source = slowSource()
        let repository = try Repository<Remark>.remarks(source, scheduler.timer)
        source.fail(.unreachable)
        try await scheduler.run {
            async let first = repository.failure(1)
            async let second = repository.failure(1)
            #expect(await [first, second] == [.unavailable, .unavailable])
        }
        #expect(source.requests.count == 1)
        source.fail(nil)
        try await scheduler.run { #expect(await repository.failure(1) == nil) }
    }
}
