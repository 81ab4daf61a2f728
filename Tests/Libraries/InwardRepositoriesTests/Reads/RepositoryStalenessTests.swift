import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct RepositoryStalenessTests {
    private let scheduler = DeterministicScheduler(seed: 7)
    private let anew = Remark(id: 1, author: 7, text: "anew")

    private func repository(
        _ source: any DataFetcher,
        _ lifetimes: Lifetimes,
        chance: @escaping @Sendable () -> Double = { 0 }
    ) throws -> Repository<Remark> {
        try .remarks(source, scheduler.timer, lifetimes: lifetimes, chance: chance)
    }

    // MARK: Stale while revalidating

    @Test func staleAnswersAreReturnedDuringOneRefresh() async throws {
        let source = RemarkSource { [scheduler] _ in try await scheduler.clock.sleep(for: .seconds(5)) }
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60), staleWhileRevalidate: .seconds(30)))
        try await scheduler.run { _ = try await repository.entity(1) }
        source.put(anew)
        // The first response was requested five seconds ago.
        scheduler.clock.advance(by: .seconds(84.5))
        try await scheduler.run { () async throws -> Void in
            for _ in 0..<10 {
                let reading = try await repository.entity(1)
                #expect(reading.value.text == "one" && reading.isStale && reading.origin == .memory)
                #expect(reading.age == .seconds(89.5))
            }
        }
        try await scheduler.drain()
        #expect(source.requests.count == 2)
        // An intermediate cache may answer the refresh.
        #expect(source.requests.last?.headerFields[.cacheControl] == nil)
        try await scheduler.run { [anew] () async throws -> Void in
            #expect(try await repository.entity(1) == Reading(anew, origin: .memory, age: .seconds(5)))
        }
        #expect(source.requests.count == 2)
    }

    @Test func staleAnswerIsNotReturnedAfterItsTime() async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60), staleWhileRevalidate: .seconds(30)))
        try await scheduler.run { _ = try await repository.entity(1) }
        source.put(anew)
        scheduler.clock.advance(by: .seconds(90))
        try await scheduler.run { [anew] () async throws -> Void in
            #expect(try await repository.entity(1) == Reading(anew, origin: .upstream))
        }
    }

    @Test func staleAnswerIsNotReturnedByDefault() async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60)))
        try await scheduler.run { _ = try await repository.entity(1) }
        scheduler.clock.advance(by: .seconds(60))
        try await scheduler.run { () async throws -> Void in #expect(try await repository.entity(1).origin == .upstream)
        }
    }

    @Test func refreshIgnoresTheDeadlineOfItsReader() async throws {
        let source = RemarkSource { [scheduler] _ in try await scheduler.clock.sleep(for: .seconds(5)) }
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60), staleWhileRevalidate: .seconds(30)))
        try await scheduler.run { _ = try await repository.entity(1) }
        source.put(anew)
        scheduler.clock.advance(by: .seconds(60))
        let timer = scheduler.timer
        try await scheduler.run { () async throws -> Void in
            let reading = await Deadline(in: .seconds(1), on: timer).bound { () async throws(RepositoryError) in
                try await repository.entity(1)
            }
            #expect(try reading?.get().isStale == true)
        }
        try await scheduler.drain()
        try await scheduler.run { () async throws -> Void in
            #expect(try await repository.entity(1, .cacheOnly).value.text == "anew")
        }
    }

    // MARK: Stale if error

    @Test(arguments: [true, false])
    func staleAnswersReplaceErrorsForATime(isUnreadable: Bool) async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60), staleIfError: .seconds(100)))
        try await scheduler.run { _ = try await repository.entity(1) }
        if isUnreadable { source.answer(body: "{") } else { source.fail(.timedOut) }
        scheduler.clock.advance(by: .seconds(159))
        try await scheduler.run { () async throws -> Void in
            let reading = try await repository.entity(1)
            #expect(reading.value.text == "one" && reading.isStale && reading.age == .seconds(159))
            #expect(reading.fallbackReason?.reason == (isUnreadable ? .unreadable : .unavailable))
        }
        #expect(source.requests.count == 2)
        scheduler.clock.advance(by: .seconds(1))
        try await scheduler.run { () async throws -> Void in
            #expect(await repository.failure(1) == (isUnreadable ? .unreadable : .unavailable))
        }
    }

    // MARK: Jitter

    @Test func jitterSpreadsStalenessOfEntitiesFetchedTogether() async throws {
        let source = RemarkSource()
        for id in 1...1_000 { source.put(Remark(id: id, author: 7, text: "text")) }
        let random = Mutex(SplitMix64(seed: 7))
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60), jitter: 0.5)) {
            random.withLock { Double.random(in: 0..<1, using: &$0) }
        }
        try await scheduler.run { _ = try await repository.entities() }
        var stale: [Int] = []
        for seconds in [30, 15, 14, 1] {
            scheduler.clock.advance(by: .seconds(seconds))
            stale.append(
                try await scheduler.run {
                    var count = 0
                    for id in 1...1_000 where try await repository.entity(id, .cacheOnly).isStale { count += 1 }
                    return count
                }
            )
        }
        #expect(stale[0] == 0 && (400...600).contains(stale[1]) && (900..<1_000).contains(stale[2]))
        #expect(stale[3] == 1_000)
    }

    // MARK: Freshness

    @Test(arguments: [false, true]) func freshAnswerIsReadFromMemory(areLists: Bool) async throws {
        let repository = try repository(RemarkSource(), Lifetimes(staleAfter: .seconds(60)))
        let origins = Mutex<[Origin]>([])
        for wait in [.zero, .seconds(60) - .nanoseconds(1), .nanoseconds(1)] as [Duration] {
            scheduler.clock.advance(by: wait)
            try await scheduler.run {
                let origin = try await areLists ? repository.entities().origin : repository.entity(1).origin
                origins.withLock { $0.append(origin) }
            }
        }
        #expect(origins.withLock { $0 } == [.upstream, .memory, .upstream])
    }

    // MARK: Absence

    @Test func missingEntityIsRequestedAgainAfterItsOwnLifetime() async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60), missingExpiresAfter: .seconds(10)))
        try await scheduler.run { #expect(await repository.failure(9) == .notFound) }
        source.put(Remark(id: 9, author: 7, text: "nine"))
        scheduler.clock.advance(by: .seconds(9))
        try await scheduler.run { #expect(await repository.failure(9) == .notFound) }
        #expect(source.requests.count == 1)
        scheduler.clock.advance(by: .seconds(1))
        try await scheduler.run { () async throws -> Void in
            #expect(try await repository.entity(9).value.text == "nine")
        }
    }

    @Test func writtenEntityIsFreshAsLongAsAFetchedOne() async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(60), missingExpiresAfter: .seconds(10)))
        try await scheduler.run { () async throws -> Void in
            _ = try await repository.send(Remark(id: 9, author: 7, text: "nine"))
        }
        scheduler.clock.advance(by: .seconds(59))
        try await scheduler.run { () async throws -> Void in
            #expect(try await repository.entity(9).origin == .memory)
        }
        #expect(source.requests.count == 1)
    }

    @Test func absenceIsNotCachedLongerThanFreshness() async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes(staleAfter: .seconds(5), missingExpiresAfter: .seconds(10)))
        try await scheduler.run { #expect(await repository.failure(9) == .notFound) }
        scheduler.clock.advance(by: .seconds(5))
        try await scheduler.run { #expect(await repository.failure(9) == .notFound) }
        #expect(source.requests.count == 2)
    }

    @Test func staleAbsenceIsNotReturnedDuringARefresh() async throws {
        let source = RemarkSource()
        let repository = try repository(
            source,
            Lifetimes(staleAfter: .seconds(60), staleWhileRevalidate: .seconds(30), missingExpiresAfter: .seconds(10))
        )
        try await scheduler.run { #expect(await repository.failure(9) == .notFound) }
        source.put(Remark(id: 9, author: 7, text: "nine"))
        scheduler.clock.advance(by: .seconds(10))
        try await scheduler.run { #expect(await repository.failure(9) == nil) }
        #expect(source.requests.count == 2)
    }

    @Test(arguments: [FetchError.Reason.unreachable, .timedOut, .rejected])
    func failureIsNotCachedAsAbsence(reason: FetchError.Reason) async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes())
        source.fail(reason)
        try await scheduler.run { #expect(await repository.failure(1) == .unavailable) }
        source.fail(nil)
        try await scheduler.run { () async throws -> Void in #expect(try await repository.entity(1).value.text == "one")
        }
    }

    @Test func missingEntityHasNoFallback() async throws {
        let source = RemarkSource()
        let repository = try repository(source, Lifetimes())
        try await scheduler.run { _ = try await repository.entity(1) }
        source.remove(1)
        try await scheduler.run { #expect(await repository.failure(1, .upstreamOnly) == .notFound) }
        source.fail(.unreachable)
        scheduler.clock.advance(by: .seconds(20))
        try await scheduler.run { () async throws -> Void in
            #expect(await repository.failure(1) == .unavailable)
            #expect(await repository.failure(1, .upstreamFirst) == .unavailable)
            #expect(await repository.failure(1, .cacheOnly) == .notFound)
        }
    }
}
