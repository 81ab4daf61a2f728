extension FlawedDataFetcher {
    /// For each flaw, the beginning of a violation that must be found. A flaw is listed twice if two checks must find it.
    static let findings: [(Flaw, String)] = requestFindings + answerFindings + sharingFindings + endingFindings

    /// Violations by requests as they are sent.
    private static let requestFindings: [(Flaw, String)] = [
        (.dropsQuery, "GET \(server)echo?a=… must return 19 bytes, but returned a different body (15 bytes)."),
        (
            .dropsRequestBody,
            "POST \(server)echo must return 19 bytes, but returned a different body (16 bytes)."
        ),
        (
            .dropsRequestFields,
            "GET \(server)echo must return 28 bytes, but returned a different body (15 bytes)."
        ),
        (
            .dropsCredentials,
            "GET \(server)echo must return 41 bytes, but returned a different body (15 bytes)."
        ),
        (
            .keepsFirstRequestField,
            "GET \(server)echo must return 33 bytes, but returned a different body (28 bytes)."
        ),
        (
            .keepsLastRequestField,
            "GET \(server)echo must return 33 bytes, but returned a different body (28 bytes)."
        ),
        (
            .replacesContentType,
            "POST \(server)chosen-fields must return 151 bytes, but returned a different body (129 bytes)."
        ),
        (
            .replacesUserAgent,
            "POST \(server)chosen-fields must return 151 bytes, but returned a different body (129 bytes)."
        ),
        (
            .decodesQuery,
            "GET \(server)echo?a=… must return 35 bytes, but returned a different body (33 bytes)."
        ),
        (
            .dropsPath,
            "GET \(server)%C3%BC%20;/echo must return 26 bytes, but returned a different body (11 bytes)."
        ),
        (
            .truncatesRequest,
            "POST \(server)echo must return 1100016 bytes, but returned a different body (65552 bytes)."
        ),
        (
            .sendsAnotherMethod,
            "DELETE \(server)echo must return 18 bytes, but returned a different body (16 bytes)."
        ),
        (.sendsPutAsPost, "PUT \(server)echo must return 15 bytes, but returned a different body (16 bytes)."),
        (.sendsHeadAsGet, "HEAD \(server)echo must return 0 bytes, but returned a different body (15 bytes)."),
        (.sendsBodyOfGet, "GET \(server)count must be refused, but returned 200 OK."),
        (.sendsFraming, "POST \(server)count must be refused, but returned 200 OK."),
        (.sendsLongAddress, "GET \(server)count?a=… must be refused, but returned 200 OK."),
        (.sendsAnySchemes, "GET file:/// must be refused, but returned 200 OK."),
        (.sendsAnySchemes, "POST file:/// must be refused, but returned 200 OK."),
        (.sendsAndRefuses, "GET \(server)count must not be sent, but was."),
        (.refusesDifferently, "GET file:/// must fail as invalidRequest, but failed as unreachable."),
    ]

    /// Violations by responses as they are returned.
    private static let answerFindings: [(Flaw, String)] = [
        (
            .keepsFirstAnswerField,
            "The response to GET \(server)fields must include “Vary: If-None-Match”, but the value is X-Asked."
        ),
        (
            .keepsLastAnswerField,
            "The response to GET \(server)fields must include “Vary: X-Asked”, but the value is If-None-Match."
        ),
        (
            .dropsAnswerFields,
            "The response to GET \(server)echo must include “Content-Type: text/plain”, but the value is missing."
        ),
        (
            .truncatesAnswer,
            "GET \(server)large must return 1100000 bytes, but returned a different body (65536 bytes)."
        ),
        (
            .dropsPartOfAnswer,
            "GET \(server)large must return 1100000 bytes, but returned a different body (1099000 bytes)."
        ),
        (.repeatsAnswer, "GET \(server)echo must return 15 bytes, but returned a different body (30 bytes)."),
        (.throwsOnClientError, "GET \(server)status-400 must return 400 Bad Request, but failed:"),
        (.throwsOnServerError, "GET \(server)status-500 must return 500 Internal Server Error, but failed:"),
        (.throwsOnUnauthorized, "GET \(server)status-401 must return 401 Unauthorized, but failed:"),
        (.throwsOnNotModified, "GET \(server)status-304 must return 304 Not Modified, but failed:"),
        (.changesStatus, "GET \(server)status-201 must return 201 Created, but returned 200 OK."),
        (
            .reportsAnotherURL,
            "The response to GET \(server)echo must have the URL \(server)echo, but has another one."
        ),
        (
            .reportsAFallback,
            "GET \(server)echo must return its own response, but returned a fallback."
        ),
        (
            .returnsPartialBody,
            "GET \(server)cut-short must fail as interrupted, but returned 200 OK, 1000 bytes."
        ),
        (
            .returnsPartialChunks,
            "GET \(server)cut-short-chunks must fail as interrupted, but returned 200 OK, 1000 bytes."
        ),
        (.failsPartialBodyDifferently, "GET \(server)cut-short must fail as interrupted, but failed as unreadable."),
    ]

    /// Violations by concurrent and repeated requests.
    private static let sharingFindings: [(Flaw, String)] = [
        (
            .sharesByAddress,
            "Concurrently: GET \(server)echo must return 15 bytes, but returned a different body"
        ),
        (.sharesByAddress, "GET \(server)count must be sent once for each of 21 fetches, but returned the counts"),
        (
            .sharesByAddressAndMethod,
            "Concurrently: POST \(server)echo must return 16 bytes, but returned"
        ),
        (
            .mixesConcurrentAnswers,
            "Concurrently: GET \(server)cut-short must fail as interrupted, but returned"
        ),
        (
            .answersFromMemory,
            "GET \(server)count must be sent once for each of 21 fetches, but returned the counts [1, 1"
        ),
        (
            .answersFromMemoryByAddress,
            "GET \(server)echo must return 33 bytes, but returned a different body (15"
        ),
        (.sendsTwice, "GET \(server)count must be sent once for each of 21 fetches, but returned the counts [2, 4"),
        (.sendsWritesTwice, "POST \(server)echo must be sent once, but was sent 2 times."),
        (.sendsAgainWhenUnavailable, "GET \(server)status-503 must be sent once, but was sent 2 times."),
        (.sendsAgainWhenCutShort, "GET \(server)cut-short must be sent once, but was sent 2 times."),
    ]

    /// Violations by cancellations and deadlines.
    private static let endingFindings: [(Flaw, String)] = [
        (
            .ignoresEarlyCancellation,
            "GET \(server)echo must fail as cancelled when its task is cancelled, but was answered."
        ),
        (
            .answersWhenCancelled,
            "GET \(server)silence must fail as cancelled when its task is cancelled, but was answered."
        ),
        (
            .answersWhenCancelledSoon,
            "GET \(server)silence must fail as cancelled when its task is cancelled, but was answered."
        ),
        (
            .answersWhenCancelledLate,
            "GET \(server)silence must fail as cancelled when its task is cancelled, but was answered."
        ),
        (
            .answersWhenCancelledInBody,
            "GET \(server)unfinished must fail as cancelled when its task is cancelled, but was answered."
        ),
        (
            .failsDifferentlyWhenCancelledInBody,
            "GET \(server)unfinished must fail as cancelled when its task is cancelled, but failed as interrupted."
        ),
        (.sendsAfterDeadline, "GET \(server)count must not be sent after its deadline, but was."),
        (.answersAtDeadlineInBody, "GET \(server)unfinished must fail as timedOut at its deadline, but was answered."),
        (.ignoresDeadline, "GET \(server)silence must fail as timedOut at its deadline, but failed as cancelled."),
        (
            .ignoresDeadlineInBody,
            "GET \(server)unfinished must fail as timedOut at its deadline, but failed as cancelled."
        ),
        (.endsBeforeDeadline, "GET \(server)silence must fail as timedOut at its deadline, but did so too early."),
    ]

    private static let server = "http://upstream.test/api/"
}
