import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryCacheControlTests {
    private let clock = ManualClock()
    private let source = RemarkSource()
    private let store = RecordingRecordStore()

    private func repository() throws -> Repository<Remark> {
        let place = RepositoryStore(store, partition: []) {
            .init(timeIntervalSinceReferenceDate: 0)
        } reportFailure: {
            _ in
        }
        return try .remarks(source, TimerService(clock), store: place)
    }

    @Test func noStoreResponseIsNotCached() async throws {
        let repository = try repository()
        source.send(.cacheControl, "private, No-Store")
        #expect(try await repository.entity(1).value.text == "one")
        #expect(try await repository.entities().value.count == 3)
        #expect(await repository.failure(9) == .notFound)
        await repository.flush()
        #expect(store.commits.isEmpty)
        source.put(Remark(id: 9, author: 7, text: "nine"))
        #expect(try await repository.entity(9).origin == .upstream)
        #expect(try await repository.entity(1).origin == .upstream)
        #expect(try await repository.entities().origin == .upstream)
    }

    @Test func cachedAbsenceIsNotRequestedAgain() async throws {
        let repository = try repository()
        for _ in 1...2 {
            let error = await #expect(throws: RepositoryError.self) { try await repository.entity(9) }
            #expect(error?.reason == .notFound && error?.canRetry == false)
        }
        #expect(source.requests.count == 1)
    }

    @Test func fallbackIsNotCached() async throws {
        let repository = try repository()
        source.degrade()
        #expect(try await repository.entity(1).fallbackReason?.reason == .unavailable)
        #expect(try await repository.entities().fallbackReason?.reason == .unavailable)
        #expect(await repository.failure(9) == .notFound)
        await repository.flush()
        #expect(store.commits.isEmpty)
        for id in [1, 9] { #expect(await repository.failure(id, .cacheOnly) == .unavailable) }
    }

    @Test func ageInAnIntermediateCacheCounts() async throws {
        let repository = try repository()
        source.send(.age, "50")
        let first = try await repository.entity(1)
        #expect(first.age == .seconds(50) && !first.isStale)
        clock.advance(by: .seconds(9))
        #expect(try await repository.entity(1).age == .seconds(59))
        #expect(source.requests.count == 1)
        clock.advance(by: .seconds(1))
        _ = try await repository.entity(1)
        #expect(source.requests.count == 2)
    }

    @Test(arguments: ["60", "99999999999"])
    func copyOlderThanItsFreshnessIsStale(age: String) async throws {
        let repository = try repository()
        source.send(.age, age)
        #expect(try await repository.entity(1).isStale)
        #expect(try await repository.entities().isStale)
        #expect(await repository.failure(1, .cacheFirst.notOlder(than: .seconds(59))) == .unavailable)
        _ = try await repository.entity(1)
        #expect(source.requests.count == 5)
    }

    @Test func newResponseIsNotStaleEvenWithoutFreshness() async throws {
        let repository = try Repository<Remark>.remarks(
            source,
            TimerService(clock),
            lifetimes: Lifetimes(staleAfter: .zero)
        )
        for _ in 0..<2 { #expect(try await !repository.entity(1).isStale) }
        #expect(source.requests.count == 2)
    }
}
