import InwardCore
import InwardFetching
import InwardTransfers
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

    @Test func rejectedOperationsKeepTheirRetryAfter() {
        let error = ResilienceError(.rejected, operation: "it", explanation: "was not sent", retryAfter: .seconds(8))
        #expect(ProblemDetails(error) == .unavailable(retryAfter: .seconds(8)))
    }

    @Test(arguments: RepositoryError.Reason.Code.allCases)
    func textsContainNeitherUpstreamNorCredentials(code: RepositoryError.Reason.Code) throws {
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

    /// Returns the expected status of each kind. A new kind does not compile without one.
    private static func status(_ code: FetchError.Reason.Code) -> (FetchError.Reason, Int) {
        switch code {
        case .cancelled: (.cancelled, 503)
        case .closed: (.closed, 503)
        case .invalidRequest: (.invalidRequest, 422)
        case .addressRefused: (.addressRefused, 422)
        case .rejected: (.rejected, 503)
        case .unreachable: (.unreachable, 503)
        case .untrusted: (.untrusted, 503)
        case .timedOut: (.timedOut, 503)
        case .interrupted: (.interrupted, 503)
        case .tooLarge: (.tooLarge, 502)
        case .tooManyRedirects: (.tooManyRedirects, 503)
        case .unsuccessful: (.unsuccessful, 503)
        case .unreadable: (.unreadable, 502)
        }
    }

    @Test(arguments: FetchError.Reason.Code.allCases) func eachFetchErrorHasAStatus(code: FetchError.Reason.Code) {
        let (reason, status) = Self.status(code)
        let problem = ProblemDetails(FetchError(reason, request: request, explanation: Self.secret))
        #expect(problem.status.code == status && !problem.detail.contains("secret"))
    }

    @Test(arguments: [
        (401, 403), (403, 403), (407, 403), (511, 403), (404, 404), (410, 404), (408, 503), (421, 503), (423, 503),
        (425, 503), (429, 503), (400, 422), (409, 409), (412, 409), (499, 422), (500, 503), (502, 503), (300, 503),
    ])
    func upstreamStatusesAreTranslated(status: Int, code: Int) {
        let error = FetchError(DataResponse(status: DataResponse.Status(status)), to: request)
        #expect(ProblemDetails(error).status.code == code)
    }

    /// Returns the expected status of each kind. A new kind does not compile without one.
    private static func status(_ code: UnitOfWorkError.Reason.Code) -> (UnitOfWorkError.Reason, Int) {
        switch code {
        case .denied: (.denied, 403)
        case .full: (.full, 507)
        case .foreign: (.foreign, 500)
        case .closed: (.closed, 503)
        case .cancelled: (.cancelled, 503)
        case .unavailable: (.unavailable, 503)
        }
    }

    @Test(arguments: UnitOfWorkError.Reason.Code.allCases)
    func eachUnitOfWorkErrorHasAStatus(code: UnitOfWorkError.Reason.Code) {
        let (reason, status) = Self.status(code)
        let problem = ProblemDetails(UnitOfWorkError(reason, explanation: Self.secret))
        #expect(problem.status.code == status)
        #expect(problem.detail.contains("Nothing was changed.") == (code != .foreign))
        #expect(!problem.detail.contains("secret"))
    }

    private static let unreadable = DataLoaderError(source: secret, explanation: secret)
    private static let absent = DataLoaderError(source: secret, explanation: secret, meansAbsence: true)
    private static let unwritable = DataSaverError(destination: secret, explanation: secret)

    private static let transferErrors: [TransferDataError] = [
        .cancelled, .timedOut, .unreadable(unreadable), .unreadable(absent), .unwritable(unwritable),
        .limitExceeded(unreadable), .restless(restartCount: 3),
    ]

    @Test(arguments: transferErrors) func eachTransferErrorHasAStatus(error: TransferDataError) {
        let status =
            switch error {
            case .unreadable(let cause): cause.meansAbsence ? 404 : 503
            case .limitExceeded: 502
            case .unwritable, .restless, .timedOut, .cancelled: 503
            }
        let problem = ProblemDetails(error)
        #expect(problem.status.code == status && !problem.detail.contains("secret"))
    }

    @Test func errorsOfTransfersAndTasksHaveAStatus() {
        #expect(ProblemDetails(Self.absent) == .notFound)
        #expect(ProblemDetails(Self.unreadable) == .unavailable)
        let unsaved = ProblemDetails(Self.unwritable)
        #expect(unsaved == ProblemDetails(TransferDataError.unwritable(Self.unwritable)))
        #expect(unsaved.detail == "The data may not have been saved. Check before you send it again.")
        #expect(ProblemDetails(DeadlinePassedError(Self.secret)) == .unavailable)
        #expect(ProblemDetails(CancellationError()) == .unavailable)
    }

    @Test func convertibleErrorsProvideTheirProblem() {
        struct SoldOut: ProblemDetailsConvertible {
            let problemDetails = ProblemDetails(409, detail: "It is sold out. Order something else.")
        }
        let error: any Error = SoldOut()
        #expect(ProblemDetails(error).detail == "It is sold out. Order something else.")
    }

    @Test(arguments: [
        (ProblemDetails.denied, 403), (.notFound, 404), (.conflict, 409), (.unsupported, 415), (.refused, 422),
        (.internalError, 500), (.unreadable, 502), (.unavailable, 503), (.outcomeUnknown, 504), (.full, 507),
    ])
    func eachPredefinedProblemSaysWhatToDo(problem: ProblemDetails, code: Int) {
        #expect(problem.status.code == code && problem.detail.hasSuffix(".") && problem.title != "Unknown")
    }

    @Test func otherErrorsAreInternalAndProblemsStayThemselves() {
        #expect(ProblemDetails(Other()).status.code == 500)
        var problem = ProblemDetails(418, detail: "It is a teapot.")
        problem.instance = "/brew/7"
        #expect(ProblemDetails(problem) == problem && problem.title == "Unknown")
    }

    @Test func problemsAreEncodedAsInRFC9457() throws {
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
    func retryAfterIsInWholeSeconds(delay: Duration?, value: String?) {
        let fields = problem(.unavailable, retryAfter: delay).headerFields
        #expect(fields[.contentType] == "application/problem+json" && fields[.retryAfter] == value)
        #expect(problem(.notFound, retryAfter: delay).headerFields[.retryAfter] == nil)
    }

    @Test func retryDelayOfAFetchErrorIsKept() {
        var response = DataResponse(status: 503)
        response.headerFields[.retryAfter] = "7"
        #expect(ProblemDetails(FetchError(response, to: request)).retryAfter == .seconds(7))
    }

    @Test func retryDateOfAFetchErrorBecomesADelay() {
        let sent = Date(timeIntervalSince1970: 1_600_000_000)
        func problem(retryAt date: Date) -> ProblemDetails {
            ProblemDetails(
                FetchError(.rejected, request: request, explanation: "", retryAfter: .date(date)),
                at: sent
            )
        }
        #expect(problem(retryAt: sent.addingTimeInterval(3_600)).retryAfter == .seconds(3_600))
        #expect(problem(retryAt: .distantPast).headerFields[.retryAfter] == nil)
        #expect(problem(retryAt: .distantFuture).retryAfter == .seconds(31_536_000))
    }
}
