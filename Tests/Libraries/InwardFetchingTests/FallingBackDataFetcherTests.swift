import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct FallingBackDataFetcherTests {
    private final class Log: FetchObserver {
        private let recorded = Mutex<[FetchError]>([])

        var errors: [FetchError] { recorded.withLock(\.self) }

        func fellBack(_ request: DataRequest, because error: FetchError) { recorded.withLock { $0.append(error) } }
    }

    private struct PunctualDataFetcher: DataFetcher {
        let honorsDeadlines = true

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { DataResponse() }
    }

    private let log = Log()
    private let other = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 203, body: Data("other".utf8))))

    private func failing(_ reason: FetchError.Reason) -> StubDataFetcher { StubDataFetcher(failing: reason) }

    private func answering(_ code: Int) -> StubDataFetcher { StubDataFetcher(DataResponse(status: .init(code))) }

    private func outcome(
        of fetcher: some DataFetcher,
        to request: DataRequest
    ) async -> Result<DataResponse, FetchError> {
        let fetcher = fetcher.observing(with: log)
        return await Result(awaiting: { () async throws(FetchError) in try await fetcher.fetch(request) })
    }

    @Test func successesAreReturned() async throws {
        for code in [200, 204, 304, 400, 404, 429, 499, 600] {
            let outcome = await outcome(of: answering(code).fallingBack(to: other), to: try .example())
            #expect(outcome == .success(DataResponse(status: .init(code))))
        }
        #expect(other.requests.isEmpty)
        #expect(log.errors.isEmpty)
    }

    @Test(arguments: [FetchError.Reason.rejected, .unreachable, .untrusted, .timedOut, .interrupted])
    func fallbackAnswersAfterAnError(reason: FetchError.Reason) async throws {
        let request = try DataRequest.example()
        let response = try await outcome(of: failing(reason).fallingBack(to: other), to: request).get()
        let error = FetchError(reason, request: request, explanation: "was told to fail")
        #expect(response.status == 203)
        #expect(response.body == Data("other".utf8))
        #expect(response.fallbackReason == error)
        #expect(response.origin == .upstream)
        #expect(other.requests == [request])
        #expect(log.errors == [error])
    }

    @Test(arguments: [500, 503, 599])
    func fallbackAnswersAfterAServerError(code: Int) async throws {
        let failed = DataResponse(status: .init(code))
        let request = try DataRequest.example()
        let response = try await outcome(of: StubDataFetcher(failed).fallingBack(to: other), to: request).get()
        #expect(response.status == 203)
        #expect(response.fallbackReason == FetchError(failed, to: request))
        #expect(log.errors == [FetchError(failed, to: request)])
    }

    @Test(arguments: [
        FetchError.Reason.cancelled, .closed, .invalidRequest, .tooLarge, .tooManyRedirects, .unreadable,
        .addressRefused,
    ])
    func otherErrorsHaveNoFallback(reason: FetchError.Reason) async throws {
        let error = await outcome(of: failing(reason).fallingBack(to: other), to: try .example()).failure
        #expect(error?.reason == reason)
        #expect(other.requests.isEmpty)
    }

    @Test(arguments: [(503, true), (404, false)])
    func thrownStatusesAreTreatedLikeReturnedOnes(code: Int, fallsBack: Bool) async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            throw FetchError(DataResponse(status: .init(code)), to: request)
        }
        let outcome = await outcome(of: source.fallingBack(to: other), to: try .example())
        #expect((outcome.failure == nil) == fallsBack)
    }

    @Test func fixedResponseComesFromMemoryAndMayHaveAnyStatus() async throws {
        let fixed = DataResponse(status: 503, body: Data("closed".utf8))
        let response = try await outcome(of: failing(.rejected).fallingBack(to: fixed), to: try .example()).get()
        #expect(response.status == 503)
        #expect(response.body == Data("closed".utf8))
        #expect(response.origin == .memory)
        #expect(response.fallbackReason?.reason == .rejected)
        #expect(log.errors.count == 1)
    }

    @Test(arguments: ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
    func onlySafeMethodsHaveAFallbackByDefault(method: String) async throws {
        let method = try #require(DataRequest.Method(method))
        let request = try DataRequest.example(method: method)
        for fetcher in [answering(503).fallingBack(to: other), answering(503).fallingBack(to: DataResponse())] {
            let response = try await outcome(of: fetcher, to: request).get()
            #expect((response.fallbackReason != nil) == (method == .head))
        }
        let told = answering(503).fallingBack(to: DataResponse(), for: [method])
        #expect(try await outcome(of: told, to: request).get().fallbackReason != nil)
        let toldAnother = answering(503).fallingBack(to: other, for: [method])
        #expect(try await outcome(of: toldAnother, to: request).get().fallbackReason != nil)
        #expect(try await outcome(of: toldAnother, to: .example()).get().fallbackReason == nil)
    }

    @Test func originalFailureIsTheOutcomeIfTheFallbackFailsToo() async throws {
        for fallback: any DataFetcher in [failing(.unreadable), failing(.cancelled), answering(500), answering(404)] {
            let answered = await outcome(of: answering(502).fallingBack(to: fallback), to: try .example())
            #expect(answered == .success(DataResponse(status: 502)))
            let failed = await outcome(of: failing(.timedOut).fallingBack(to: fallback), to: try .example())
            #expect(failed.failure?.reason == .timedOut)
        }
        #expect(log.errors.isEmpty)
    }

    @Test func cancelledCallerGetsACancellationError() async throws {
        // A rendezvous that no other task reaches, so only cancellation ends a wait there.
        let nowhere = Rendezvous(of: 2)
        let fallback = StubDataFetcher { request throws(FetchError) in
            await nowhere.arrive()
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        let fetcher = failing(.unreachable).fallingBack(to: fallback)
        let task = Task { await outcome(of: fetcher, to: try .example()) }
        task.cancel()
        #expect(try await task.value.failure?.reason == .cancelled)
    }

    @Test func deadlinesAreHonoredIfBothFetchersHonorThem() {
        let (punctual, other) = (PunctualDataFetcher(), StubDataFetcher(DataResponse()))
        #expect(punctual.fallingBack(to: punctual).honorsDeadlines)
        #expect(!punctual.fallingBack(to: other).honorsDeadlines)
        #expect(!other.fallingBack(to: punctual).honorsDeadlines)
        #expect(punctual.fallingBack(to: DataResponse()).honorsDeadlines)
        #expect(!other.fallingBack(to: DataResponse()).honorsDeadlines)
    }

    @Test func layerDescriptionNamesTheKindOfFallback() {
        let fetcher = answering(200)
        #expect(fetcher.fallingBack(to: other).layer == DataFetcherLayer(.fallback, "falls back to another fetcher"))
        let fixed = fetcher.fallingBack(to: DataResponse()).layer
        #expect(fixed == DataFetcherLayer(.fallback, "falls back to a fixed response"))
    }
}
