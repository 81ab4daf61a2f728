import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct RepositoryPolicyTests {
    private let clock = ManualClock()
    private let source = RemarkSource()
    private let one = Remark(id: 1, author: 7, text: "one")

    private func repository() throws -> Repository<Remark> { try .remarks(source, TimerService(clock)) }

    @Test func cacheFirstReturnsTheNearestFreshAnswer() async throws {
        let repository = try repository()
        #expect(try await repository.entity(1) == Reading(one, origin: .upstream))
        clock.advance(by: .seconds(59))
        #expect(try await repository.entity(1) == Reading(one, origin: .memory, age: .seconds(59)))
        #expect(source.requests.count == 1)
        #expect(source.requests.first?.headerFields[.cacheControl] == nil)
        clock.advance(by: .seconds(1))
        #expect(try await repository.entity(1) == Reading(one, origin: .upstream))
        #expect(source.requests.count == 2)
    }

    @Test func upstreamOnlyAsksEachTimeAndBypassesCaches() async throws {
        let repository = try repository()
        for _ in 0..<2 { #expect(try await repository.entity(1, .upstreamOnly).origin == .upstream) }
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == ["no-cache", "no-cache"])
        source.fail(.unreachable)
        #expect(await repository.failure(1, .upstreamOnly) == .unavailable)
    }

    @Test func cacheOnlyReturnsCachedAnswersOfAnyAge() async throws {
        let repository = try repository()
        #expect(await repository.failure(1, .cacheOnly) == .unavailable)
        #expect(source.requests.isEmpty)
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(604_800))
        let reading = try await repository.entity(1, .cacheOnly)
        #expect(reading == Reading(one, origin: .memory, age: .seconds(604_800), isStale: true))
        clock.advance(by: .nanoseconds(1))
        #expect(await repository.failure(1, .cacheOnly) == .unavailable)
        #expect(source.requests.count == 1)
    }

    @Test func upstreamFirstFallsBackToCachedAnswersOfAnyAge() async throws {
        let repository = try repository()
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(200_000))
        source.fail(.unreachable)
        let reading = try await repository.entity(1, .upstreamFirst)
        #expect(reading.value == one && reading.origin == .memory && reading.isStale)
        #expect(reading.age == .seconds(200_000))
        #expect(reading.fallbackReason?.explanation == "was told to fail")
        source.fail(nil)
        #expect(try await repository.entity(1, .upstreamFirst) == Reading(one, origin: .upstream))
        #expect(source.requests.last?.headerFields[.cacheControl] == "no-cache")
    }

    @Test(arguments: [ReadPolicy.upstreamFirst, .cacheFirst])
    func deniedOrMissingEntityHasNoFallback(policy: ReadPolicy) async throws {
        let repository = try repository()
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(61))
        source.answer(status: 403)
        #expect(await repository.failure(1, policy) == .denied)
        source.answer(status: 404)
        #expect(await repository.failure(1, policy) == .notFound)
    }

    @Test func maximumAgeAppliesToEveryPolicy() async throws {
        let repository = try repository()
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(10))
        #expect(try await repository.entity(1, .cacheOnly.notOlder(than: .seconds(10))).age == .seconds(10))
        #expect(try await repository.entity(1, .cacheFirst.notOlder(than: .seconds(10))).origin == .memory)
        clock.advance(by: .nanoseconds(1))
        #expect(await repository.failure(1, .cacheOnly.notOlder(than: .seconds(10))) == .unavailable)
        source.fail(.unreachable)
        #expect(await repository.failure(1, .upstreamFirst.notOlder(than: .seconds(10))) == .unavailable)
        #expect(await repository.failure(1, .cacheFirst.notOlder(than: .seconds(10))) == .unavailable)
        source.fail(nil)
        #expect(try await repository.entity(1, .cacheFirst.notOlder(than: .seconds(10))).origin == .upstream)
    }

    @Test func copyThatIsTooOldIsRequestedAgain() async throws {
        let source = RecordingDataFetcher(
            StubDataFetcher { [source] request throws(FetchError) in
                var response = try await source.fetch(request)
                if request.headerFields[.cacheControl] == nil { response.headerFields[.age] = "50" }
                return response
            }
        )
        let repository = try Repository<Remark>.remarks(source, TimerService(clock))
        let policy = ReadPolicy.cacheFirst.notOlder(than: .seconds(49))
        #expect(try await repository.entity(1, policy) == Reading(one, origin: .upstream))
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == [nil, "no-cache"])
    }

    @Test(arguments: [ReadPolicy.cacheFirst, .upstreamOnly, .upstreamFirst])
    func responseOlderThanTheMaximumAgeIsRejected(policy: ReadPolicy) async throws {
        let repository = try repository()
        source.send(.age, "50")
        #expect(try await repository.entity(1, policy.notOlder(than: .seconds(50))).age == .seconds(50))
        let error = await #expect(throws: RepositoryError.self) {
            try await repository.entity(1, policy.notOlder(than: .seconds(49)))
        }
        #expect(error?.reason == .unavailable && error?.canRetry == true)
    }

    /// A write is accepted during each attempt to read, so no attempt sees a consistent state.
    @Test func readAcceptsTheThirdResponseIfWritesNeverStop() async throws {
        let repository = Mutex<Repository<Remark>?>(nil)
        let count = Atomic(0)
        let source = RemarkSource { _ in
            let key = "9 \(count.add(1, ordering: .relaxed).newValue)"
            repository.withLock { $0?.pending.add(Remark(id: 9, author: 7, text: "nine"), for: key) }
        }
        let made = try Repository<Remark>.remarks(source, TimerService(clock))
        repository.withLock { $0 = made }
        made.pending.add(Remark(id: 8, author: 7, text: "eight"), for: "8")
        #expect(try await made.entities(.all, .upstreamOnly).value.map(\.id) == [1, 2, 3, 8, 9])
        #expect(source.requests.count == 3)
    }

    @Test func readingsGiveTheCachedAnswerAndThenTheUpstreams() async throws {
        let repository = try repository()
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(61))
        source.put(Remark(id: 1, author: 7, text: "anew"))
        let readings = Readings { policy throws(RepositoryError) in try await repository.entity(1, policy) }
        var given: [Reading<Remark>] = []
        for try await reading in readings { given.append(reading) }
        #expect(given.map(\.value.text) == ["one", "anew"])
        #expect(given.map(\.isStale) == [true, false])
        #expect(given.map(\.origin) == [.memory, .upstream])
    }
}
