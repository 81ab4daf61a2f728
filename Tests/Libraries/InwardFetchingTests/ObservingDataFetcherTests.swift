import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ObservingDataFetcherTests {
    /// An observer that adds a header field to each attempt.
    private struct FieldAdder: FetchObserver {
        let field: HeaderField

        func surroundAttempt(
            _ request: DataRequest,
            _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
        ) async throws(FetchError) -> DataResponse {
            var request = request
            request.headerFields.append(field)
            return try await fetch(request)
        }
    }

    private let recorder = RecordingFetchObserver()
    private let clock = ManualClock()
    private let timer: TimerService

    init() { timer = TimerService(clock) }

    /// Returns a fetcher that takes two seconds.
    private func source(_ result: Result<DataResponse, FetchError> = .success(DataResponse())) -> RecordingDataFetcher {
        RecordingDataFetcher(
            StubDataFetcher { [clock] _ throws(FetchError) in
                clock.advance(by: .seconds(2))
                return try result.get()
            }
        )
    }

    private func partition() -> ResponseCache.Partition {
        ResponseCache(byteLimit: 10_000, clock: clock).makePartition()
    }

    @Test func attemptEndsBeforeItsRequest() async throws {
        let fetcher = source().observing(with: recorder, timer: timer)
        #expect(try await fetcher.fetch(.example()) == DataResponse())
        #expect(
            recorder.descriptions == [
                "Attempt 1 of GET http://upstream.test/users began",
                "Attempt 1 of GET http://upstream.test/users returned 200 OK",
                "Attempt 1 of GET http://upstream.test/users ended with 200 OK after 2.0 seconds",
                "GET http://upstream.test/users ended with 200 OK after 2.0 seconds",
            ]
        )
    }

    @Test func attemptsAreTimedFromTheirBeginning() async throws {
        clock.advance(by: .seconds(100))
        let request = try DataRequest.example()
        _ = try await source().observing(with: recorder, timer: timer).fetch(request)
        #expect(recorder.events.contains(.attemptEnded(request, .success(DataResponse()), after: .seconds(2))))
        #expect(recorder.events.contains(.requestEnded(request, .success(DataResponse()), after: .seconds(2))))
    }

    @Test func failuresAreReportedAndThrown() async throws {
        clock.advance(by: .seconds(100))
        let request = try DataRequest.example()
        let failure = FetchError(.unreachable, request: request, explanation: "failed")
        let fetcher = source(.failure(failure)).observing(with: recorder, timer: timer)
        await #expect(throws: failure) { try await fetcher.fetch(request) }
        #expect(
            recorder.events == [
                .attemptBegan(request), .attemptReturned(request, .failure(failure)),
                .attemptEnded(request, .failure(failure), after: .seconds(2)),
                .requestEnded(request, .failure(failure), after: .seconds(2)),
            ]
        )
    }

    @Test func nothingIsReportedWithoutAnObserver() async throws {
        let fetcher = source().caching(in: partition()).observing(with: nil, timer: timer)
        #expect(try await fetcher.fetch(.example()).status == .ok)
        #expect(fetcher.layer.description == "has no observer")
        #expect(fetcher.base is CachingDataFetcher)
        #expect((fetcher.base as? CachingDataFetcher)?.base is RecordingDataFetcher)
    }

    @Test func observingKeepsTheLayers() throws {
        let fetcher = source().caching(in: partition()).timingOut(after: .seconds(9), timer: timer).observing(
            with: recorder,
            timer: timer
        )
        #expect(fetcher.layer == DataFetcherLayer(.observation, "reports to an observer"))
        let timeout = try #require(fetcher.base as? TimingOutDataFetcher)
        #expect(timeout.layer.kind == .timeout)
        #expect(timeout.base is CachingDataFetcher)
    }

    @Test func onlyRequestsToTheInnermostFetcherAreAttempts() async throws {
        let fresh = DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60")])
        let source = source(.success(fresh))
        let request = try DataRequest.example("https://upstream.test/users")
        let fetcher = source.authorizing(with: .bearer("s3cret"), for: request.url).caching(in: partition())
            .observing(with: recorder, timer: timer)
        let first = try await fetcher.fetch(request)
        var sent = request
        sent.headerFields = [.bearer("s3cret")]
        #expect(
            recorder.events == [
                .attemptBegan(sent), .attemptReturned(sent, .success(fresh)),
                .attemptEnded(sent, .success(fresh), after: .seconds(2)),
                .requestEnded(request, .success(first), after: .seconds(2)),
            ]
        )
        let kept = try await fetcher.fetch(request)
        #expect(kept.origin == .memory)
        // The age counts from the request.
        #expect(kept.headerFields[.age] == "2")
        #expect(
            recorder.events.dropFirst(4) == [
                .answeredFromCache(request), .requestEnded(request, .success(kept), after: .zero),
            ]
        )
        #expect(source.requests == [sent])
    }

    @Test func observerIsNotNotifiedOfLayersAddedLater() async throws {
        let fresh = DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60")])
        let fetcher = source(.success(fresh)).observing(with: recorder, timer: timer)
            .caching(in: partition())
        let request = try DataRequest.example()
        _ = try await fetcher.fetch(request)
        let told = recorder.events
        #expect(told.count == 4)
        #expect(try await fetcher.fetch(request).origin == .memory)
        #expect(recorder.events == told)
    }

    @Test func innermostObserverIsNotifiedFirstAndWrapsLast() async throws {
        let fresh = DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60")])
        let source = source(.success(fresh))
        let inner = RecordingFetchObserver(named: "inner", sharing: recorder)
        let outer = RecordingFetchObserver(named: "outer", sharing: recorder)
        let fetcher = source.caching(in: partition())
            .observing(with: inner, timer: timer).observing(with: outer, timer: timer)
        _ = try await fetcher.fetch(.example())
        let request = "GET http://upstream.test/users"
        #expect(
            recorder.descriptions == [
                "outer: Attempt 1 of \(request) began", "inner: Attempt 1 of \(request) began",
                "inner: Attempt 1 of \(request) returned 200 OK", "outer: Attempt 1 of \(request) returned 200 OK",
                "inner: Attempt 1 of \(request) ended with 200 OK after 2.0 seconds",
                "outer: Attempt 1 of \(request) ended with 200 OK after 2.0 seconds",
                "inner: \(request) ended with 200 OK after 2.0 seconds",
                "outer: \(request) ended with 200 OK after 2.0 seconds",
            ]
        )
        _ = try await fetcher.fetch(.example())
        #expect(
            recorder.descriptions.dropFirst(8) == [
                "inner: \(request) was answered from a cache", "outer: \(request) was answered from a cache",
                "inner: \(request) ended with 200 OK after 0.0 seconds",
                "outer: \(request) ended with 200 OK after 0.0 seconds",
            ]
        )
        #expect(source.requests.count == 1)
    }

    @Test func innerObserversSeeOnlyWhatReachesThem() async throws {
        let outer = RecordingFetchObserver()
        let fresh = DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60")])
        let fetcher = source(.success(fresh)).observing(with: recorder, timer: timer).caching(in: partition())
            .observing(with: outer, timer: timer)
        let request = try DataRequest.example()
        for _ in 0..<2 { _ = try await fetcher.fetch(request) }
        #expect(outer.events.contains(.answeredFromCache(request)))
        #expect(!recorder.events.contains(.answeredFromCache(request)))
        for observer in [recorder, outer] {
            // One attempt was made, and each observer is notified of it once.
            #expect(observer.events.count { if case .attemptEnded = $0 { true } else { false } } == 1)
        }
        #expect(outer.events.count { if case .requestEnded = $0 { true } else { false } } == 2)
        #expect(recorder.events.count { if case .requestEnded = $0 { true } else { false } } == 1)
    }

    @Test func headerFieldAddedByAnObserverIsSentAndSeenByInnerObservers() async throws {
        let source = source()
        let field = HeaderField(try #require(HeaderField.Name("X-Trace")), "7")
        let fetcher = source.observing(with: recorder, timer: timer).observing(
            with: FieldAdder(field: field),
            timer: timer
        )
        let request = try DataRequest.example()
        _ = try await fetcher.fetch(request)
        var sent = request
        sent.headerFields.append(field)
        #expect(source.requests == [sent])
        #expect(recorder.events.first == .attemptBegan(sent))
        #expect(recorder.events.last.map { if case .requestEnded(request, _, _) = $0 { true } else { false } } == true)
    }

    @Test func deadlinesAreHonoredIfTheWrappedFetcherHonorsThem() {
        struct Honoring: DataFetcher {
            var honorsDeadlines: Bool { true }
            func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { DataResponse() }
        }
        #expect(Honoring().observing(with: recorder, timer: timer).honorsDeadlines)
        #expect(!source().observing(with: recorder, timer: timer).honorsDeadlines)
    }

    @Test func sharedFetcherReportsToEachPipelineSeparately() async throws {
        let other = RecordingFetchObserver()
        let source = source()
        _ = try await source.observing(with: other, timer: timer).fetch(.example())
        _ = try await source.observing(with: recorder, timer: timer).fetch(.example())
        #expect(recorder.events.count == 4)
        #expect(other.events.count == 4)
    }
}
