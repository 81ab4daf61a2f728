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

/// A repository with an intermediate cache before its upstream.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryCopiesTests {
    /// An intermediate cache, such as that of a CDN, that does not see writes.
    private final class FarCache: DataFetcher {
        private let base: any DataFetcher
        private let timer: TimerService
        private let kept = Mutex<[URL: (response: DataResponse, time: Duration)]>([:])

        init(_ base: any DataFetcher, timer: TimerService) {
            self.base = base
            self.timer = timer
        }

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            let now = timer.now
            guard request.method == .get else { return try await base.fetch(request) }
            if request.headerFields[.cacheControl] == nil, var copy = kept.withLock({ $0[request.url] }) {
                copy.response.headerFields[.age] = String((now - copy.time).components.seconds)
                return copy.response
            }
            let response = try await base.fetch(request)
            kept.withLock { $0[request.url] = (response, now) }
            return response
        }
    }

    private let clock = ManualClock()
    private let source = RemarkSource()

    private func repository(memory: MemoryLimit = MemoryLimit()) throws -> Repository<Remark> {
        source.send(.cacheControl, "max-age=600")
        let cache = ResponseCache(byteLimit: 1 << 20, clock: clock)
        return try .remarks(source.caching(in: cache.makePartition()), TimerService(clock), memory: memory)
    }

    @Test(arguments: [Duration.zero, .milliseconds(900), .seconds(30)])
    func readAfterInvalidationBypassesOlderCopies(age: Duration) async throws {
        let repository = try repository()
        _ = try await repository.entities()
        _ = try await repository.entity(1)
        _ = try await repository.entity(2, .upstreamOnly)
        source.put(Remark(id: 1, author: 7, text: "changed"))
        source.put(Remark(id: 2, author: 7, text: "changed"))
        clock.advance(by: age)
        repository.invalidateAll()
        #expect(try await repository.entities().value.prefix(2).map(\.text) == ["changed", "changed"])
        repository.invalidate(2)
        #expect(try await repository.entity(2).value.text == "changed")
    }

    @Test func uncachedListContainsACreatedEntity() async throws {
        let timer = TimerService(clock)
        let repository = try Repository.remarks(FarCache(source, timer: timer), timer, memory: .nothing)
        _ = try await repository.entities(.author(7))
        clock.advance(by: .seconds(30))
        _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        #expect(try await repository.entities(.author(7)).value.map(\.id) == [1, 2, 4])
    }

    private enum Write: CaseIterable { case update, updateAnsweredStrangely, deletion }

    @Test(arguments: Write.allCases)
    private func uncachedEntityIsReadAsWritten(write: Write) async throws {
        let timer = TimerService(clock)
        let source = VersionedSource()
        let repository = try Repository.versioned(FarCache(source, timer: timer), memory: .nothing, timer: timer)
        _ = try await (repository.entities(), repository.entity(2))
        clock.advance(by: .seconds(30))
        if write == .updateAnsweredStrangely { source.meet(.strangeAnswer) }
        if write == .deletion {
            try await repository.delete(2)
        } else {
            try await repository.update(2) { $0.text = "new" }
        }
        clock.advance(by: .seconds(30))
        let texts = try await repository.entities().value.map(\.text)
        #expect(texts == (write == .deletion ? ["1", "3"] : ["1", "new", "3"]))
        if write != .deletion { #expect(try await repository.entity(2).value.text == "new") }
    }

    @Test func uncachedListContainsAnEntityOfAnUncertainCreation() async throws {
        let timer = TimerService(clock)
        let cache = FarCache(source, timer: timer)
        let losing = StubDataFetcher { request throws(FetchError) in
            let answer = try await cache.fetch(request)
            guard request.method == .post else { return answer }
            throw FetchError(.interrupted, request: request, explanation: "was lost")
        }
        let repository = try Repository.remarks(losing, timer, memory: .nothing)
        _ = try await repository.entities(.author(7))
        clock.advance(by: .seconds(30))
        await #expect(throws: RepositoryError.self) {
            try await repository.send(Remark(id: 4, author: 7, text: "four"))
        }
        #expect(try await repository.entities(.author(7)).value.map(\.id) == [1, 2, 4])
    }

    /// The upstream has answered, but the result is not durable yet.
    @Test func uncachedListContainsAnEntityBeingSettled() async throws {
        let timer = TimerService(clock)
        let repository = try Repository.remarks(FarCache(source, timer: timer), timer, memory: .nothing)
        _ = try await repository.entities(.author(7))
        clock.advance(by: .seconds(30))
        source.put(Remark(id: 4, author: 7, text: "four"))
        let text = #"{"id": 4, "author": 7, "text": "four"}"#
        let entry = OutboxEntry(
            sequence: 1,
            write: OutboxStage.write(["new"], text),
            idempotencyKey: "k",
            acceptedAt: OutboxStage.time,
            attempts: 0
        )
        let handler = try #require(repository.handler)
        let answer = DataResponse(body: Data(text.utf8))
        _ = try await handler.delivered(entry, answer: answer, before: LaterEntries())
        #expect(try await repository.entities(.author(7)).value.map(\.id) == [1, 2, 4])
    }

    @Test func copyMadeInTheSameSecondAsAChangeCountsAsOlder() async throws {
        let timer = TimerService(clock)
        let repository = try Repository.remarks(FarCache(source, timer: timer), timer, memory: .nothing)
        _ = try await repository.entity(1)
        source.put(Remark(id: 1, author: 7, text: "changed"))
        repository.invalidate(1)
        #expect(try await repository.entity(1).value.text == "changed")
    }

    /// The response was made before the change and arrived after it.
    @Test func slowCopyIsAsOldAsItsRequest() async throws {
        let (isMade, isReleased) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let isFirst = Once()
        let source = RemarkSource(departure: { _ in
            guard isFirst.isFirst() else { return }
            await isMade.arrive()
            await isReleased.arrive()
        })
        source.send(.cacheControl, "max-age=600")
        let cache = ResponseCache(byteLimit: 1 << 20, clock: clock)
        let repository = try Repository.remarks(
            source.caching(in: cache.makePartition()),
            TimerService(clock),
            memory: .nothing
        )
        async let slow = repository.entity(1)
        await isMade.arrive()
        clock.advance(by: .seconds(4))
        source.put(Remark(id: 1, author: 7, text: "changed"))
        repository.invalidateAll()
        clock.advance(by: .seconds(4))
        await isReleased.arrive()
        #expect(try await slow.value.text == "one")
        clock.advance(by: .seconds(1))
        #expect(try await repository.entity(1).value.text == "changed")
    }

    @Test func delayOfACopyCountsTowardItsAge() async throws {
        let source = RemarkSource(departure: { [clock] _ in clock.advance(by: .seconds(8)) })
        source.send(.age, "50")
        let repository = try Repository.remarks(source, TimerService(clock), memory: .nothing)
        #expect(try await repository.entity(1).age == .seconds(58))
        #expect(try await repository.entities().age == .seconds(58))
    }

    @Test func delayOfTheSecondResponseCountsToo() async throws {
        let source = RemarkSource(departure: { [clock] _ in clock.advance(by: .seconds(8)) })
        source.send(.age, "50")
        let timer = TimerService(clock)
        let repository = try Repository.remarks(FarCache(source, timer: timer), timer, memory: .nothing)
        _ = try await repository.entity(1)
        source.put(Remark(id: 1, author: 7, text: "changed"))
        repository.invalidate(1)
        let reading = try await repository.entity(1)
        #expect(reading.value.text == "changed")
        #expect(reading.age == .seconds(58))
    }

    @Test(arguments: [(50, [nil]), (49, [nil, "no-cache"])] as [(Int, [String?])])
    func copyOfTheMaximumAgeIsAccepted(age: Int, asked: [String?]) async throws {
        source.send(.age, "50")
        let repository = try Repository.remarks(source, TimerService(clock), memory: .nothing)
        _ = try? await repository.entity(1, .cacheFirst.notOlder(than: .seconds(age)))
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == asked)
    }

    @Test func responseFromTheUpstreamHasNoAge() async throws {
        let source = RemarkSource(departure: { [clock] _ in clock.advance(by: .seconds(8)) })
        let repository = try Repository.remarks(source, TimerService(clock), memory: .nothing)
        #expect(try await repository.entity(1, .cacheFirst.notOlder(than: .seconds(5))).age == .zero)
    }

    @Test func laterOfTwoInvalidationsApplies() async throws {
        let repository = try repository(memory: .nothing)
        repository.invalidateAll()
        clock.advance(by: .seconds(30))
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(30))
        source.put(Remark(id: 1, author: 7, text: "changed"))
        repository.invalidateAll()
        clock.advance(by: .seconds(30))
        #expect(try await repository.entity(1).value.text == "changed")
    }

    @Test func copyFromAfterTheChangeIsAccepted() async throws {
        let repository = try repository(memory: .nothing)
        repository.invalidateAll()
        clock.advance(by: .seconds(2))
        _ = try await repository.entities()
        clock.advance(by: .seconds(2))
        #expect(try await repository.entities().origin == .memory)
        #expect(source.requests.count == 1)
    }
}
