import InwardCore
import InwardFetching
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ProblemDetailsTests {
    private struct Other: Error {}

    private let request = DataRequest(url: URL(filePath: "/private"))

    private static let secret = "http://user:secret@internal.test/posts?key=secret"

    private func problem(_ reason: RepositoryError.Reason, retryAfter: Duration? = nil) -> ProblemDetails {
        ProblemDetails(
            RepositoryError(reason, request: "GET \(Self.secret)", explanation: Self.secret, retryAfter: retryAfter)
        )
    }

    @Test(arguments: [
        (RepositoryError.Reason.notFound, 404, "Not Found"), (.denied, 403, "Forbidden"),
        (.refused, 422, "Unprocessable Content"), (.conflict, 409, "Conflict"), (.unreadable, 502, "Bad Gateway"),
        (.outcomeUnknown, 504, "Gateway Timeout"), (.unavailable, 503, "Service Unavailable"),
        (.closed, 503, "Service Unavailable"), (.cancelled, 503, "Service Unavailable"),
    ])
    func eachRepositoryErrorHasAStatusAndASentence(reason: RepositoryError.Reason, code: Int, title: String) {
        let problem = problem(reason)
        #expect(problem.status.code == code && problem.title == title && problem.type == "about:blank")
        #expect(problem.detail.hasSuffix(".") && problem.description == "\(code) \(title): \(problem.detail)")
    }

    @Test(arguments: RepositoryError.Reason.Code.allCases)
    func noTextNamesTheUpstreamOrACredential(code: RepositoryError.Reason.Code) throws {
        let reasons: [RepositoryError.Reason.Code: RepositoryError.Reason] = [
            .cancelled: .cancelled, .closed: .closed, .notFound: .notFound, .unavailable: .unavailable,
            .denied: .denied, .refused: .refused, .conflict: .conflict, .unreadable: .unreadable,
            .outcomeUnknown: .outcomeUnknown,
        ]
        let problem = problem(try #require(reasons[code]))
        let encoded = String(decoding: try JSONEncoder().encode(problem), as: UTF8.self)
        #expect(!"\(problem) \(encoded) \(problem.headerFields)".contains("secret"))
        #expect(!encoded.contains("internal"))
    }

    @Test(arguments: [
        (FetchError.Reason.unreachable, 503), (.rejected, 503), (.cancelled, 503), (.closed, 503),
        (.invalidRequest, 422), (.timedOut, 503), (.interrupted, 503), (.tooLarge, 502), (.unreadable, 502),
        (.tooManyRedirects, 503), (.untrusted, 503),
    ])
    func eachFetchErrorHasAStatus(reason: FetchError.Reason, code: Int) {
        let error = FetchError(reason, request: request, explanation: "failed")
        #expect(ProblemDetails(error).status.code == code)
    }

    @Test(arguments: [
        (401, 403), (403, 403), (407, 403), (511, 403), (404, 404), (410, 404), (408, 503), (421, 503), (423, 503),
        (425, 503), (429, 503), (400, 422), (409, 409), (412, 409), (499, 422), (500, 503), (502, 503), (300, 503),
    ])
    func theStatusOfAnUpstreamIsNotPassedOnAsItIs(status: Int, code: Int) {
        let error = FetchError(DataResponse(status: DataResponse.Status(status)), to: request)
        #expect(ProblemDetails(error).status.code == code)
    }

    @Test(arguments: [(UnitOfWorkError.Reason.full, 507), (.denied, 403), (.unavailable, 503), (.cancelled, 503)])
    func eachUnitOfWorkErrorHasAStatus(reason: UnitOfWorkError.Reason, code: Int) {
        let problem = ProblemDetails(UnitOfWorkError(reason, explanation: Self.secret))
        #expect(problem.status.code == code && problem.detail.contains("Nothing was changed."))
        #expect(!problem.detail.contains("secret"))
    }

    @Test func anyOtherErrorIsAnInternalOneAndAProblemStaysItself() {
        #expect(ProblemDetails(Other()).status.code == 500)
        var problem = ProblemDetails(418, detail: "It is a teapot.")
        problem.instance = "/brew/7"
        #expect(ProblemDetails(problem) == problem && problem.title == "Unknown")
    }

    @Test func itIsEncodedAsTheStandardSays() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var problem = ProblemDetails(404, detail: "There is nothing here.")
        #expect(
            String(decoding: try encoder.encode(problem), as: UTF8.self)
                == #"{"detail":"There is nothing here.","status":404,"title":"Not Found","type":"about:blank"}"#
        )
        problem.type = "https://example.org/gone"
        problem.instance = "/posts/7"
        #expect(
            String(decoding: try encoder.encode(problem), as: UTF8.self) == """
                {"detail":"There is nothing here.","instance":"/posts/7","status":404,"title":"Not Found",\
                "type":"https://example.org/gone"}
                """
        )
    }

    @Test(arguments: [
        (nil, nil), (Duration.zero, nil), (.milliseconds(1), "1"), (.seconds(2), "2"), (.milliseconds(2_001), "3"),
    ])
    func howLongToWaitIsToldInWholeSeconds(delay: Duration?, value: String?) {
        let fields = problem(.unavailable, retryAfter: delay).headerFields
        #expect(fields[.contentType] == "application/problem+json" && fields[.retryAfter] == value)
        #expect(problem(.notFound, retryAfter: delay).headerFields[.retryAfter] == nil)
    }

    @Test func theDelayOfAFetchErrorIsPassedOn() {
        var response = DataResponse(status: 503)
        response.headerFields[.retryAfter] = "7"
        #expect(ProblemDetails(FetchError(response, to: request)).retryAfter == .seconds(7))
    }
}
