import InwardFetching
import InwardImages
import InwardTesting
import Testing

@testable import InwardImageServing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct FetchingImageSourceTests {
    private static let address: ImageAddress = "http://upstream.test/avatars/7.jpg"

    private func image(_ fetcher: any DataFetcher, upTo limit: Int = 10) async throws(ImageError) -> EncodedImage {
        try await FetchingImageSource(fetcher).image(at: Self.address, upTo: limit)
    }

    private func answer(_ status: Int, _ body: [UInt8] = []) -> StubDataFetcher {
        StubDataFetcher { _ in DataResponse(status: DataResponse.Status(status), body: Data(body)) }
    }

    @Test func imageIsTheResponseBody() async throws {
        #expect(try await image(answer(200, [1, 2, 3])) == EncodedImage([1, 2, 3]))
    }

    @Test func fallbackResponseIsNotGenuine() async throws {
        let fetcher = answer(503).fallingBack(to: DataResponse(body: Data([4])))
        #expect(try await image(fetcher) == EncodedImage([4], isGenuine: false))
    }

    @Test(arguments: [
        (404, ImageError.Reason.notFound), (410, .notFound), (401, .denied), (403, .denied), (407, .denied),
        (451, .denied), (500, .unavailable),
        (304, .unavailable),
    ])
    func unsuccessfulStatusFails(status: Int, reason: ImageError.Reason) async {
        let error = await #expect(throws: ImageError.self) { try await image(answer(status, [1])) }
        #expect(error?.reason == reason && error?.address == Self.address)
    }

    @Test(arguments: [
        (FetchError.Reason.cancelled, ImageError.Reason.cancelled), (.timedOut, .timedOut), (.tooLarge, .tooLarge),
        (.unreachable, .unavailable), (.rejected, .unavailable),
    ])
    func fetchErrorKeepsItsReasonAndExplanation(reason: FetchError.Reason, expected: ImageError.Reason) async {
        let fetcher = StubDataFetcher { request throws(FetchError) in
            throw FetchError(reason, request: request, explanation: "failed")
        }
        let error = await #expect(throws: ImageError.self) { try await image(fetcher) }
        #expect(error?.reason == expected)
        #expect(error?.description == "The image \(Self.address) failed.")
    }

    @Test func bodyOverTheLimitFails() async {
        let error = await #expect(throws: ImageError.self) { try await image(answer(200, [1, 2, 3]), upTo: 2) }
        #expect(error?.reason == .tooLarge)
    }

    @Test(arguments: [
        "", "//elsewhere.test/a.jpg", "/a.jpg", "../a.jpg", "%2e%2e/a.jpg", "a/%2E./b.jpg", "a/.%2e/b.jpg",
        "..%2Fa.jpg",
        "..%5ca.jpg", "..\\a.jpg", "%2e/a.jpg",
    ])
    func invalidOrOutsideAddressIsNotRequested(address: String) async {
        let fetcher = RecordingDataFetcher(answer(200))
        let source = FetchingImageSource(fetcher, relativeTo: URL(string: "http://upstream.test/api"))
        let error = await #expect(throws: ImageError.self) {
            try await source.image(at: ImageAddress(address), upTo: 1)
        }
        #expect(
            error?.explanation == "was not requested: its address is not a valid URL, or leads outside the base URL"
        )
        #expect(fetcher.requests.isEmpty)
    }

    @Test(arguments: [
        ("avatars/7.jpg", "http://upstream.test/api/avatars/7.jpg"),
        ("a%20b.jpg?size=2", "http://upstream.test/api/a%20b.jpg?size=2"),
        ("https://elsewhere.test/a.jpg", "https://elsewhere.test/a.jpg"),
        // Dots in a query or fragment do not change the path.
        ("a.jpg?from=/../%2f", "http://upstream.test/api/a.jpg?from=/../%2f"),
        ("a.jpg#/../%2f", "http://upstream.test/api/a.jpg#/../%2f"),
    ])
    func relativeAddressIsResolvedAgainstTheBaseURL(address: String, url: String) async throws {
        let fetcher = RecordingDataFetcher(answer(200))
        let source = FetchingImageSource(fetcher, relativeTo: URL(string: "http://upstream.test/api"))
        _ = try await source.image(at: ImageAddress(address), upTo: 1)
        #expect(fetcher.requests.map(\.url.absoluteString) == [url])
        #expect(fetcher.requests[0].headerFields[.accept] == "image/*")
    }

    @Test func notFoundFromAFallbackMeansUnavailable() async {
        let fetcher = answer(503).fallingBack(to: DataResponse(status: .notFound))
        let error = await #expect(throws: ImageError.self) { try await image(fetcher) }
        #expect(error?.reason == .unavailable)
    }
}
