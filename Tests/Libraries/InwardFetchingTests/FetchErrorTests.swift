import InwardFetching
import InwardTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct FetchErrorTests {
    @Test func credentialsOfABaseURLAreNotDescribed() throws {
        let base = try #require(URL(string: "https://ada:p4ssw0rd@upstream.test/"))
        let request = DataRequest(url: try #require(URL(string: "users", relativeTo: base)))
        let error = FetchError(.unreachable, request: request, explanation: "failed as ada with p4ssw0rd")
        #expect(!"\(error)".contains("p4ssw0rd"))
    }

    @Test func unsuccessfulResponsesKeepTheirStatusAndRetryAfter() throws {
        let response = DataResponse(status: 503, headerFields: [HeaderField(.retryAfter, "2")])
        let error = FetchError(response, to: try .example())
        #expect(error.reason == .unsuccessful)
        #expect(error.status == 503)
        #expect(error.wasSent)
        #expect(error.retryAfter == .delay(.seconds(2)))
        #expect(error.description == "GET http://upstream.test/users was answered with 503 Service Unavailable")
    }

    @Test func credentialsAreRemovedFromExplanations() throws {
        let request = try DataRequest.example(
            "http://ada:p4ss@upstream.test/users?key=s3cret",
            headerFields: [HeaderField(.authorization, "Bearer s3cret"), HeaderField(.cookie, "id=c00kie")]
        )
        let explanation = "failed at http://ada:p4ss@upstream.test/ ?key=s3cret with s3cret, Bearer s3cret, id=c00kie"
        let error = FetchError(.unreachable, request: request, explanation: explanation)
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", String(reflecting: error), dumped, error.explanation, error.request] {
            for secret in ["p4ss", "s3cret", "c00kie", "ada"] {
                #expect(!text.contains(secret))
            }
        }
        #expect(error.explanation.contains("upstream.test"))
    }

    @Test(arguments: [
        "t%21ken", "t!ken", "s3c%20ret", "s3c ret", "fr4g", "sid=c00kie", "c00kie", "dark-theme", "s3ss10n", "abc123==",
    ])
    func partsOfCredentialsAreRemovedToo(secret: String) throws {
        let request = try DataRequest.example(
            "http://ada:t%21ken@upstream.test/users?key=s3c%20ret&page=2#fr4g",
            headerFields: [
                HeaderField(.cookie, "sid=c00kie; theme=dark-theme"), HeaderField(.authorization, "Digest id=s3ss10n"),
                HeaderField(.proxyAuthorization, "Basic abc123=="),
            ]
        )
        let error = FetchError(.unreachable, request: request, explanation: "failed: \(secret), page 2 of users")
        #expect(error.explanation == "failed: …, page 2 of users")
    }

    @Test func schemeNamesAreNotRemoved() throws {
        let request = try DataRequest.example(headerFields: [HeaderField(.authorization, "Bearer s3cret")])
        let error = FetchError(.unreachable, request: request, explanation: "a Bearer was sent: s3cret")
        #expect(error.explanation == "a Bearer was sent: …")
    }

    @Test func longURLsAreShortened() throws {
        let longest = "http://upstream.test/" + String(repeating: "a", count: DataRequest.maximumAddressBytes - 21)
        let error = FetchError(.unreachable, request: try .example(longest), explanation: "failed")
        #expect(error.request == "GET \(longest)")
        let longer = FetchError(.unreachable, request: try .example(longest + "a"), explanation: "failed")
        #expect(longer.request == "GET \(longest.prefix(200))…")
    }

    @Test func responsesAreDescribedWithoutTheirURL() throws {
        let url = try DataRequest.example("http://ada:s3cret@upstream.test/?key=s3cret").url
        let response = DataResponse(status: 404, body: Data("abc".utf8), url: url)
        #expect("\(response)" == "404 Not Found, 3 bytes")
        #expect(!String(reflecting: response).contains("s3cret"))
    }

    @Test(arguments: [
        (FetchError.Reason.unreachable, true), (.timedOut, true), (.interrupted, true), (.cancelled, false),
        (.invalidRequest, false), (.untrusted, false), (.tooLarge, false), (.tooManyRedirects, false),
        (.unreadable, false), (.closed, false), (.unsuccessful, false), (.addressRefused, false),
    ])
    func temporaryFailuresCanBeRetried(reason: FetchError.Reason, canRetry: Bool) throws {
        #expect(FetchError(reason, request: try .example(), explanation: "failed").canRetry == canRetry)
    }

    @Test(arguments: [
        (408, true), (429, true), (500, true), (503, true), (504, true), (400, false), (404, false), (501, false),
    ])
    func temporaryStatusesCanBeRetried(code: Int, canRetry: Bool) throws {
        #expect(FetchError(DataResponse(status: .init(code)), to: try .example()).canRetry == canRetry)
    }

    @Test func fetchDataReturnsTheBody() async throws {
        let url = try DataRequest.example().url
        let fetcher = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 204, body: Data("x".utf8))))
        #expect(try await fetcher.fetchData(from: url) == Data("x".utf8))
        #expect(fetcher.requests == [DataRequest(url: url)])
    }

    @Test(arguments: [199, 300, 304, 404, 500])
    func fetchDataThrowsForUnsuccessfulStatuses(code: Int) async throws {
        let url = try DataRequest.example().url
        let error = await #expect(throws: FetchError.self) {
            try await StubDataFetcher(DataResponse(status: .init(code))).fetchData(from: url)
        }
        #expect(error?.reason == .unsuccessful)
        #expect(error?.status == .init(code))
    }

    @Test func errorsDoNotRetainTheRequestBody() throws {
        let request = try DataRequest.example(method: .post, body: Data("s3cret".utf8))
        let error = FetchError(.timedOut, request: request, explanation: "hung", wasSent: false)
        #expect(!error.wasSent)
        #expect(FetchError(.timedOut, request: request, explanation: "hung").wasSent)
        for reason in [FetchError.Reason.rejected, .closed, .invalidRequest] {
            #expect(!FetchError(reason, request: request, explanation: "no").wasSent)
        }
        var shown = ""
        dump(error, to: &shown)
        #expect(!shown.contains("s3cret"))
        #expect(
            error == FetchError(.timedOut, request: try .example(method: .post), explanation: "hung", wasSent: false)
        )
        #expect(error != FetchError(.timedOut, request: request, explanation: "hung"))
    }
}
