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

@Suite(.timeLimit(.minutes(5)))
struct CachingDataFetcherTests {
    private let clock = ManualClock()

    private func makeCache(byteLimit: Int = 100_000) -> ResponseCache {
        ResponseCache(byteLimit: byteLimit, clock: clock)
    }

    private func fresh(_ body: String, seconds: Int = 60, status: DataResponse.Status = .ok) -> DataResponse {
        answer(body, "max-age=\(seconds)", status: status)
    }

    private func answer(_ body: String, _ cacheControl: String?, status: DataResponse.Status = .ok) -> DataResponse {
        var response = DataResponse(status: status, body: Data(body.utf8))
        response.headerFields[.cacheControl] = cacheControl
        return response
    }

    private func script(_ answers: DataResponse...) -> ScriptedDataFetcher {
        ScriptedDataFetcher(answers.map { .answer($0) })
    }

    private func request(_ cacheControl: String? = nil, method: DataRequest.Method = .get) throws -> DataRequest {
        var request = try DataRequest.example(method: method)
        request.headerFields[.cacheControl] = cacheControl
        return request
    }

    /// Returns the bodies of the responses to requests, sent in sequence.
    private func bodies(_ fetcher: some DataFetcher, _ requests: DataRequest...) async throws -> [String] {
        var bodies: [String] = []
        for request in requests {
            bodies.append(String(decoding: try await fetcher.fetch(request).body, as: UTF8.self))
        }
        return bodies
    }

    @Test func freshResponsesComeFromMemory() async throws {
        let fetcher = script(fresh("1")).caching(in: makeCache().makePartition())
        let first = try await fetcher.fetch(request())
        #expect(first.body == Data("1".utf8))
        #expect(first.headerFields[.cacheStatus] == "Inward; fwd=uri-miss; stored; ttl=60")
        #expect(first.origin == .upstream)
        let second = try await fetcher.fetch(request())
        #expect(second.origin == .memory)
        #expect(second.body == first.body)
        // RFC 9111 section 5.1: cached responses have an age.
        clock.advance(by: .seconds(7))
        let third = try await fetcher.fetch(request())
        #expect(second.headerFields[.cacheControl] == "max-age=60")
        #expect(second.headerFields[.age] == "0")
        #expect(second.headerFields[.cacheStatus] == "Inward; hit; ttl=60")
        #expect(third.headerFields[.age] == "7")
        // In whole seconds, rounded up.
        clock.advance(by: Duration(secondsComponent: 0, attosecondsComponent: 1))
        #expect(try await fetcher.fetch(request()).headerFields[.age] == "8")
    }

    @Test func responsesAreServedUntilTheyExpire() async throws {
        clock.advance(by: .seconds(1_000))
        let cache = makeCache()
        clock.advance(by: .seconds(1_000))
        let fetcher = script(fresh("1"), fresh("2")).caching(in: cache.makePartition())
        #expect(try await bodies(fetcher, request()) == ["1"])
        clock.advance(by: .seconds(60) - .nanoseconds(1))
        #expect(try await bodies(fetcher, request()) == ["1"])
        clock.advance(by: .nanoseconds(1))
        #expect(try await bodies(fetcher, request(), request()) == ["2", "2"])
    }

    @Test func timeInOtherCachesCountsTowardTheAge() async throws {
        var held = fresh("1")
        held.headerFields[.age] = "50"
        let fetcher = script(held, fresh("2")).caching(in: makeCache().makePartition())
        #expect(try await bodies(fetcher, request(), request()) == ["1", "1"])
        clock.advance(by: .seconds(10))
        #expect(try await bodies(fetcher, request()) == ["2"])
    }

    @Test(arguments: [nil, "no-store, max-age=60", "no-cache, max-age=60", "max-age=0", "=", "max-age=+60"])
    func responsesWithoutFreshnessAreNotStored(cacheControl: String?) async throws {
        let cache = makeCache()
        let fetcher = script(answer("1", cacheControl), fresh("2")).caching(in: cache.makePartition())
        #expect(try await bodies(fetcher, request()) == ["1"])
        #expect(cache.count == 0)
        #expect(try await bodies(fetcher, request()) == ["2"])
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["max-age=60", "no-store"])
    func responsesToEarlierRequestsDoNotReplaceLaterOnes(cacheControl: String) async throws {
        let asked = Rendezvous(of: 2)
        let goOn = Rendezvous(of: 2)
        let later = answer("later", cacheControl)
        let earlier = fresh("earlier")
        let source = StubDataFetcher { request throws(FetchError) in
            if request.headerFields[.cacheControl] != nil { return later }
            await asked.arrive()
            await goOn.arrive()
            return earlier
        }
        let fetcher = source.caching(in: makeCache().makePartition())
        async let slow = fetcher.fetch(request())
        await asked.arrive()
        _ = try await fetcher.fetch(request("no-cache"))
        await goOn.arrive()
        #expect(try await slow.body == Data("earlier".utf8))
        let now = try await fetcher.fetch(request())
        #expect(now.body == Data((cacheControl == "no-store" ? "earlier" : "later").utf8))
        #expect(now.origin == (cacheControl == "no-store" ? .upstream : .memory))
    }

    @Test func responsesWithoutABodyCountTowardTheLimit() async throws {
        let cache = makeCache(byteLimit: 10_000)
        let fetcher = StubDataFetcher { _ throws(FetchError) in fresh("") }.caching(in: cache.makePartition())
        for number in 1...100 { _ = try await fetcher.fetch(.example("http://upstream.test/\(number)")) }
        #expect((10...20).contains(cache.count))
    }

    @Test func noCacheRequestsAreSentAndTheirResponseIsStored() async throws {
        let source = RecordingDataFetcher(script(fresh("1"), fresh("2")))
        let fetcher = source.caching(in: makeCache().makePartition())
        #expect(try await bodies(fetcher, request(), request("no-cache"), request()) == ["1", "2", "2"])
        #expect(source.requests == [try request(), try request("no-cache")])
    }

    @Test func noStoreRequestsAreNotStored() async throws {
        let cache = makeCache()
        let fetcher = script(fresh("1"), fresh("2")).caching(in: cache.makePartition())
        #expect(try await bodies(fetcher, request("no-store"), request()) == ["1", "2"])
    }

    @Test(arguments: [nil, "no-store", "no-cache"])
    func newerResponsesRemoveOlderOnesEvenIfNotStored(cacheControl: String?) async throws {
        let answers = script(fresh("1"), answer("2", cacheControl), fresh("3"))
        let fetcher = answers.caching(in: makeCache().makePartition())
        #expect(try await bodies(fetcher, request(), request("no-cache"), request()) == ["1", "2", "3"])
    }

    @Test func newerResponsesThatAreTooLargeRemoveOlderOnes() async throws {
        let large = String(repeating: "x", count: 1_000)
        let fetcher = script(fresh("1"), fresh(large), fresh("3")).caching(
            in: makeCache(byteLimit: 1_000).makePartition()
        )
        #expect(try await bodies(fetcher, request(), request("no-cache"), request()) == ["1", large, "3"])
    }

    @Test func endedRequestsLeaveNoState() async throws {
        let cache = makeCache()
        let source = ScriptedDataFetcher([.answer(fresh("1")), .failure(.unreachable)])
        let fetcher = source.caching(in: cache.makePartition())
        #expect(try await bodies(fetcher, request()) == ["1"])
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request("no-cache")) }
        #expect(cache.underWayCount == 0)
    }

    @Test func failedRequestKeepsTheCachedResponse() async throws {
        let source = ScriptedDataFetcher([
            .answer(fresh("1")), .failure(.unreachable), .answer(answer("2", nil, status: 503)),
        ])
        let fetcher = source.caching(in: makeCache().makePartition())
        #expect(try await bodies(fetcher, request()) == ["1"])
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request("no-cache")) }
        #expect(try await bodies(fetcher, request("no-cache"), request()) == ["2", "1"])
    }

    @Test func differentRequestsHaveSeparateResponses() async throws {
        let fetcher = script(fresh("1"), fresh("2"), fresh("3")).caching(in: makeCache().makePartition())
        let signed = try DataRequest.example(headerFields: [HeaderField(.authorization, "Bearer a")])
        let other = try DataRequest.example("http://upstream.test/posts")
        #expect(try await bodies(fetcher, request(), signed, other) == ["1", "2", "3"])
        #expect(try await bodies(fetcher, request(), signed, other) == ["1", "2", "3"])
    }

    @Test func headRequestsKeepThePartition() async throws {
        let fetcher = script(fresh("1"), fresh("")).caching(in: makeCache().makePartition())
        #expect(try await bodies(fetcher, request(), request(method: .head), request()) == ["1", "", "1"])
    }

    /// Returns a fetcher whose reads pass two rendezvous points before they get a fresh response. Writes get one immediately.
    private func held(_ begun: Rendezvous, _ released: Rendezvous) -> StubDataFetcher {
        StubDataFetcher { request throws(FetchError) in
            if request.method == .get {
                await begun.arrive()
                await released.arrive()
            }
            return fresh("1")
        }
    }

    @Test func closedPartitionIsEmptyAndStoresNothing() async throws {
        let cache = makeCache()
        let partition = cache.makePartition()
        let (begun, released) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let fetcher = held(begun, released).caching(in: partition)
        let (first, second) = try (request(), DataRequest.example("http://upstream.test/posts"))
        async let firstAnswer = fetcher.fetch(first)
        await begun.arrive()
        await released.arrive()
        _ = try await firstAnswer
        #expect(cache.count == 1)
        partition.close()
        #expect(cache.count == 0)
        _ = try await (fetcher.fetch(first), fetcher.fetch(second))
        #expect(cache.count == 0)
    }

    @Test func responsesInFlightAreNotStoredAfterClosing() async throws {
        let cache = makeCache()
        let partition = cache.makePartition()
        let (begun, released) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let fetcher = held(begun, released).caching(in: partition)
        let read = try request()
        async let answer = fetcher.fetch(read)
        await begun.arrive()
        partition.close()
        // The response must not be stored in a partition opened in the meantime either.
        let other = cache.makePartition()
        await released.arrive()
        #expect(try await answer.body == Data("1".utf8))
        #expect(cache.count == 0)
        #expect(other.responses(for: other.key(of: read.url)).isEmpty)
    }

    @Test func partitionsDoNotShareResponses() async throws {
        let cache = makeCache()
        let (ada, charles) = (cache.makePartition(), cache.makePartition())
        let ofAda = script(fresh("of Ada")).caching(in: ada)
        let ofCharles = script(fresh("of Charles"), fresh("x")).caching(in: charles)
        #expect(try await bodies(ofAda, request()) == ["of Ada"])
        #expect(try await bodies(ofCharles, request()) == ["of Charles"])
        #expect(cache.count == 2)
        // A write or a close in one partition does not empty the other.
        _ = try await ofCharles.fetch(request(method: .post))
        charles.close()
        #expect(try await bodies(ofAda, request()) == ["of Ada"])
        #expect(cache.count == 1)
    }

    @Test func oldestResponsesAreEvictedAboveTheByteLimit() async throws {
        // About 800 bytes each.
        let cache = makeCache(byteLimit: 1_800)
        let fetcher = StubDataFetcher { _ throws(FetchError) in fresh("1234") }.caching(in: cache.makePartition())
        for number in 1...100 { _ = try await fetcher.fetch(.example("http://upstream.test/\(number)")) }
        #expect(cache.count == 2)
        #expect(try await fetcher.fetch(.example("http://upstream.test/100")).origin == .memory)
        #expect(try await fetcher.fetch(.example("http://upstream.test/98")).origin == .upstream)
    }

    /// Returns a fetcher that answers after a delay.
    private func slow(_ answer: DataResponse, by delay: Duration) -> StubDataFetcher {
        StubDataFetcher { [clock] _ throws(FetchError) in
            clock.advance(by: delay)
            return answer
        }
    }

    // RFC 9111 section 4.2.3: it is unknown when a slow response was created, so its age counts from the request.
    @Test(arguments: [(nil, 8), ("50", 58)])
    func ageOfASlowResponseCountsFromTheRequest(age: String?, seconds: Int) async throws {
        var answer = fresh("1")
        answer.headerFields[.age] = age
        let fetcher = slow(answer, by: .seconds(8)).caching(in: makeCache().makePartition())
        _ = try await fetcher.fetch(request())
        let copy = try await fetcher.fetch(request())
        #expect(copy.origin == .memory)
        #expect(copy.headerFields[.age] == "\(seconds)")
        clock.advance(by: .seconds(60 - seconds) - .nanoseconds(1))
        #expect(try await fetcher.fetch(request()).origin == .memory)
        clock.advance(by: .nanoseconds(1))
        #expect(try await fetcher.fetch(request()).origin == .upstream)
    }

    @Test func dateFieldDeterminesTheAgeIfThatIsGreater() async throws {
        let arrival = try #require(Date(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT"))
        let cache = ResponseCache(byteLimit: 100_000, clock: clock) { arrival }
        var dated = fresh("1")
        dated.headerFields[.date] = "Sun, 06 Nov 1994 08:49:17 GMT"
        let fetcher = script(dated).caching(in: cache.makePartition())
        _ = try await fetcher.fetch(request())
        #expect(try await fetcher.fetch(request()).headerFields[.age] == "20")
    }

    @Test func responsesThatTookLongerThanTheirFreshnessAreNotStored() async throws {
        let cache = makeCache()
        _ = try await slow(fresh("1"), by: .seconds(60)).caching(in: cache.makePartition()).fetch(request())
        #expect(cache.count == 0)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [nil, "no-store"])
    func uncacheableResponseDoesNotAffectOtherRequests(cacheControl: String?) async throws {
        let (begun, released) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let (kept, unkept) = (fresh("kept"), answer("unkept", cacheControl))
        let source = StubDataFetcher { request throws(FetchError) in
            guard request.url.path == "/slow" else { return unkept }
            await begun.arrive()
            await released.arrive()
            return kept
        }
        let cache = makeCache()
        let fetcher = source.caching(in: cache.makePartition())
        async let slow = fetcher.fetch(.example("http://upstream.test/slow"))
        await begun.arrive()
        _ = try await fetcher.fetch(.example("http://upstream.test/other"))
        await released.arrive()
        _ = try await slow
        #expect(cache.count == 1)
    }

    @Test func redirectedResponsesAreNotStoredUnderTheFirstURL() async throws {
        let cache = makeCache()
        var redirected = fresh("2")
        redirected.url = try DataRequest.example("http://upstream.test/elsewhere").url
        let fetcher = script(fresh("1"), redirected, fresh("3")).caching(in: cache.makePartition())
        #expect(try await bodies(fetcher, request(), request("no-cache")) == ["1", "2"])
        // The redirected response also removes the one that was stored before.
        #expect(cache.count == 0)
        #expect(try await bodies(fetcher, request(), request()) == ["3", "3"])
    }

    @Test(arguments: ["31536001", "2147483647", "2147483648", "99999999999999999999"])
    func noResponseIsStoredForMoreThanAYear(seconds: String) async throws {
        let fetcher = script(answer("1", "max-age=\(seconds)"), fresh("2")).caching(in: makeCache().makePartition())
        #expect(try await bodies(fetcher, request()) == ["1"])
        clock.advance(by: .seconds(31_536_000) - .nanoseconds(1))
        #expect(try await bodies(fetcher, request()) == ["1"])
        clock.advance(by: .nanoseconds(1))
        #expect(try await bodies(fetcher, request()) == ["2"])
    }

    @Test func optionsRequestsKeepThePartition() async throws {
        let fetcher = script(fresh("1"), fresh("options")).caching(in: makeCache().makePartition())
        #expect(try await bodies(fetcher, request(), request(method: .options), request()) == ["1", "options", "1"])
    }

    @Test func thousandConcurrentRequestsStayWithinTheByteLimit() async throws {
        let cache = makeCache(byteLimit: 5_900)
        let fetcher = StubDataFetcher { _ throws(FetchError) in fresh("12345") }.caching(in: cache.makePartition())
        try await withThrowingTaskGroup { group in
            for number in 0..<1_000 {
                group.addTask {
                    let method: DataRequest.Method = number % 100 == 0 ? .post : .get
                    let answer = try await fetcher.fetch(
                        .example("http://upstream.test/\(number % 20)", method: method)
                    )
                    #expect(answer.body == Data("12345".utf8))
                }
            }
            try await group.waitForAll()
        }
        #expect(cache.count <= 10)
    }
}
