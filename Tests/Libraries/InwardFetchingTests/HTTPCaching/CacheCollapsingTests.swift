import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Concurrent requests that the cache cannot answer.
@Suite(.timeLimit(.minutes(5)))
struct CacheCollapsingTests {
    private let clock = ManualClock()
    private let isReleased = Promise<Void>()

    private func makePartition(_ policy: CachePolicy = .shared) -> ResponseCache.Partition {
        ResponseCache(byteLimit: 1_000_000, clock: clock).makePartition(policy)
    }

    /// Returns a fetcher whose answers wait until they are released.
    private func source(
        _ answer: @escaping @Sendable (DataRequest) throws(FetchError) -> DataResponse
    ) -> RecordingDataFetcher {
        RecordingDataFetcher(
            StubDataFetcher { [isReleased] request throws(FetchError) in
                guard case .fulfilled = await isReleased.value() else {
                    throw FetchError(.cancelled, request: request, explanation: "was cancelled")
                }
                return try answer(request)
            }
        )
    }

    private static func response(_ cacheControl: String, varying: String? = nil, body: String = "") -> DataResponse {
        var response = DataResponse(headerFields: [HeaderField(.cacheControl, cacheControl)], body: Data(body.utf8))
        response.headerFields[.vary] = varying
        return response
    }

    /// Sends requests at once, and releases the answers when all but one wait for the first.
    private func answers(
        to requests: [DataRequest],
        by source: RecordingDataFetcher,
        in partition: ResponseCache.Partition
    ) async -> [Result<DataResponse, FetchError>] {
        let joined = JoinObserver(of: requests.count - 1) { isReleased.fulfill(()) }
        let fetcher = source.caching(in: partition).observing(with: joined)
        return await withTaskGroup(of: Result<DataResponse, FetchError>.self) { group in
            for request in requests {
                group.addTask {
                    await Result(awaiting: { () async throws(FetchError) in try await fetcher.fetch(request) })
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func concurrentMissesAreOneRequest() async throws {
        let source = source { _ throws(FetchError) in Self.response("max-age=60", body: "1") }
        let request = try DataRequest.example()
        let answers = await answers(to: Array(repeating: request, count: 100), by: source, in: makePartition())
        #expect(source.requests == [request])
        #expect(try answers.allSatisfy { try $0.get().body == Data("1".utf8) })
        let states = Dictionary(grouping: try answers.map { try $0.get().headerFields[.cacheStatus] }) { $0 }
        #expect(states["Inward; fwd=uri-miss; stored; ttl=60"]?.count == 1)
        #expect(states["Inward; fwd=uri-miss; collapsed; ttl=60"]?.count == 99)
    }

    /// Each of these callers may not use the response of the first, and gets one of its own. The others share it all the same.
    @Test func callersWhoMayNotUseTheResponseDoNotHinderOthers() async throws {
        let source = source { request throws(FetchError) in
            let language = request.headerFields[.acceptLanguage] ?? ""
            return Self.response("max-age=60", varying: "Accept-Language", body: language)
        }
        let languages = ["de", "en", "fr"]
        let requests = try (0..<60).map { number in
            try DataRequest.example(headerFields: [HeaderField(.acceptLanguage, languages[number % 3])])
        }
        let answers = await answers(to: requests, by: source, in: makePartition())
        #expect(source.requests.count == 3)
        let bodies = Dictionary(grouping: try answers.map { String(decoding: try $0.get().body, as: UTF8.self) }) { $0 }
        #expect(bodies.mapValues(\.count) == ["de": 20, "en": 20, "fr": 20])
    }

    @Test(arguments: ["no-store", "private, max-age=60", "max-age=0"])
    func responsesForOneCallerAreNotShared(cacheControl: String) async throws {
        let source = source { _ throws(FetchError) in Self.response(cacheControl) }
        let request = try DataRequest.example()
        let answers = await answers(to: Array(repeating: request, count: 10), by: source, in: makePartition())
        #expect(source.requests.count == 10)
        #expect(try answers.allSatisfy { try $0.get().origin == .upstream })
    }

    /// A shared cache must not give the response to one user's request to another user.
    @Test func responsesToCredentialsAreNotShared() async throws {
        let source = source { request throws(FetchError) in
            Self.response("max-age=60", body: request.headerFields[.authorization] ?? "")
        }
        let requests = try (0..<10).map { number in
            try DataRequest.example(headerFields: [HeaderField(.authorization, "Bearer \(number)")])
        }
        let answers = await answers(to: requests, by: source, in: makePartition())
        #expect(Set(try answers.map { try $0.get().body }).count == 10)
    }

    @Test func failuresAreShared() async throws {
        let source = source { request throws(FetchError) in
            throw FetchError(.unreachable, request: request, explanation: "could not reach the host")
        }
        let request = try DataRequest.example()
        let answers = await answers(to: Array(repeating: request, count: 10), by: source, in: makePartition())
        #expect(source.requests.count == 1)
        #expect(answers.allSatisfy { $0.failure?.reason == .unreachable })
    }

    /// If the upstream fails, callers who accept stale responses use what is stored, without asking again.
    @Test func staleResponsesAreSharedAfterAFailure() async throws {
        let partition = makePartition()
        let request = try DataRequest.example()
        _ = try await StubDataFetcher(Self.response("max-age=1, stale-if-error=60", body: "old")).caching(in: partition)
            .fetch(request)
        clock.advance(by: .seconds(2))
        let source = source { _ throws(FetchError) in DataResponse(status: 503) }
        let answers = await answers(to: Array(repeating: request, count: 10), by: source, in: partition)
        #expect(source.requests.count == 1)
        #expect(try answers.allSatisfy { try $0.get().body == Data("old".utf8) })
    }

    @Test func cancelledCallersDoNotEndTheRequestOfOthers() async throws {
        let isAsked = Promise<Void>()
        let hasJoined = Promise<Void>()
        let source = RecordingDataFetcher(
            StubDataFetcher { [isReleased] _ throws(FetchError) in
                isAsked.fulfill(())
                _ = await isReleased.value()
                return Self.response("max-age=60", body: "1")
            }
        )
        let request = try DataRequest.example()
        let fetcher = source.caching(in: makePartition()).observing(with: JoinObserver(of: 1) { hasJoined.fulfill(()) })
        let first = Task { try await fetcher.fetch(request) }
        _ = await isAsked.value()
        let second = Task { try await fetcher.fetch(request) }
        _ = await hasJoined.value()
        first.cancel()
        await #expect(throws: FetchError.self) { try await first.value }
        isReleased.fulfill(())
        #expect(try await second.value.body == Data("1".utf8))
        #expect(source.requests.count == 1)
    }

    @Test func requestsWithConditionsAskForThemselves() async throws {
        isReleased.fulfill(())
        let source = source { _ throws(FetchError) in Self.response("no-store") }
        let partition = makePartition()
        for field in [
            HeaderField(.range, "bytes=0-1"), HeaderField(.ifNoneMatch, "\"a\""), HeaderField(.ifMatch, "\"a\""),
        ] {
            let request = try DataRequest.example(headerFields: [field])
            _ = try await source.caching(in: partition).fetch(request)
            #expect(source.requests.last == request)
        }
        #expect(partition.flights.count == 0)
    }

    @Test func laterCallersDoNotJoinARequestFromBeforeARemoval() async throws {
        let begun = Rendezvous(of: 2)
        let source = RecordingDataFetcher(
            StubDataFetcher { [isReleased] _ throws(FetchError) in
                await begun.arrive()
                _ = await isReleased.value()
                return Self.response("max-age=60")
            }
        )
        let partition = makePartition()
        let fetcher = source.caching(in: partition)
        let request = try DataRequest.example()
        async let early = fetcher.fetch(request)
        await begun.arrive()
        partition.remove(request.url)
        async let late = fetcher.fetch(request)
        await begun.arrive()
        isReleased.fulfill(())
        _ = try await (early, late)
        #expect(source.requests.count == 2)
    }
}
