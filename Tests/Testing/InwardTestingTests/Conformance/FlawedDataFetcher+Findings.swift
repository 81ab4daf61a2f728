extension FlawedDataFetcher {
    /// For each flaw, a part of a sentence that must be found. A flaw is listed twice where two checks must find it.
    static let findings: [(Flaw, String)] = requestFindings + answerFindings + sharingFindings + endingFindings

    /// What is wrong with what is sent.
    private static let requestFindings: [(Flaw, String)] = [
        (.dropsQuery, "GET \(server)echo?a=… must be answered with 19 bytes exactly, and was with others (15 bytes)."),
        (
            .dropsRequestBody,
            "POST \(server)echo must be answered with 19 bytes exactly, and was with others (16 bytes)."
        ),
        (
            .dropsRequestFields,
            "GET \(server)echo must be answered with 28 bytes exactly, and was with others (15 bytes)."
        ),
        (
            .dropsCredentials,
            "GET \(server)echo must be answered with 41 bytes exactly, and was with others (15 bytes)."
        ),
        (
            .keepsFirstRequestField,
            "GET \(server)echo must be answered with 33 bytes exactly, and was with others (28 bytes)."
        ),
        (
            .keepsLastRequestField,
            "GET \(server)echo must be answered with 33 bytes exactly, and was with others (28 bytes)."
        ),
        (
            .replacesContentType,
            "POST \(server)chosen-fields must be answered with 151 bytes exactly, and was with others (129 bytes)."
        ),
        (
            .replacesUserAgent,
            "POST \(server)chosen-fields must be answered with 151 bytes exactly, and was with others (129 bytes)."
        ),
        (
            .decodesQuery,
            "GET \(server)echo?a=… must be answered with 35 bytes exactly, and was with others (33 bytes)."
        ),
        (
            .dropsPath,
            "GET \(server)%C3%BC%20;/echo must be answered with 26 bytes exactly, and was with others (11 bytes)."
        ),
        (
            .truncatesRequest,
            "POST \(server)echo must be answered with 1100016 bytes exactly, and was with others (65552 bytes)."
        ),
        (
            .sendsAnotherMethod,
            "DELETE \(server)echo must be answered with 18 bytes exactly, and was with others (16 bytes)."
        ),
        (.sendsPutAsPost, "PUT \(server)echo must be answered with 15 bytes exactly, and was with others (16 bytes)."),
        (.sendsHeadAsGet, "HEAD \(server)echo must be answered with 0 bytes exactly, and was with others (15 bytes)."),
        (.sendsBodyOfRead, "GET \(server)count cannot be asked, and was answered with 200 OK."),
        (.sendsFraming, "POST \(server)count cannot be asked, and was answered with 200 OK."),
        (.sendsLongAddress, "GET \(server)count?a=… cannot be asked, and was answered with 200 OK."),
        (.sendsAnySchemes, "GET file:/// cannot be asked, and was answered with 200 OK."),
        (.sendsAnySchemes, "POST file:/// cannot be asked, and was answered with 200 OK."),
        (.sendsAndRefuses, "GET \(server)count must not be sent, and was."),
        (.refusesOtherwise, "GET file:/// must fail as invalidRequest, and did as unreachable."),
    ]

    /// What is wrong with what comes back.
    private static let answerFindings: [(Flaw, String)] = [
        (.keepsFirstAnswerField, "The answer to GET \(server)fields must say “Vary: If-None-Match”, and says X-Asked."),
        (.keepsLastAnswerField, "The answer to GET \(server)fields must say “Vary: X-Asked”, and says If-None-Match."),
        (.dropsAnswerFields, "The answer to GET \(server)echo must say “Content-Type: text/plain”, and says nothing."),
        (
            .truncatesAnswer,
            "GET \(server)large must be answered with 1100000 bytes exactly, and was with others (65536 bytes)."
        ),
        (
            .dropsPartOfAnswer,
            "GET \(server)large must be answered with 1100000 bytes exactly, and was with others (1099000 bytes)."
        ),
        (.repeatsAnswer, "GET \(server)echo must be answered with 15 bytes exactly, and was with others (30 bytes)."),
        (.throwsOnClientError, "GET \(server)status-400 must be answered with 400 Bad Request, and failed:"),
        (.throwsOnServerError, "GET \(server)status-500 must be answered with 500 Internal Server Error, and failed:"),
        (.throwsOnUnauthorized, "GET \(server)status-401 must be answered with 401 Unauthorized, and failed:"),
        (.throwsOnNotModified, "GET \(server)status-304 must be answered with 304 Not Modified, and failed:"),
        (.changesStatus, "GET \(server)status-201 must be answered with 201 Created, and was with 200 OK."),
        (
            .saysAnotherAddress,
            "The answer to GET \(server)echo must come from \(server)echo, and says that it does not."
        ),
        (
            .saysDegraded,
            "GET \(server)echo must be answered itself, and was with something in the place of its answer."
        ),
        (
            .givesPartForWhole,
            "GET \(server)cut-short must fail as interrupted, and was answered with 200 OK, 1000 bytes."
        ),
        (
            .givesChunksForWhole,
            "GET \(server)cut-short-chunks must fail as interrupted, and was answered with 200 OK, 1000 bytes."
        ),
        (.failsPartOtherwise, "GET \(server)cut-short must fail as interrupted, and did as unreadable."),
    ]

    /// What is wrong with many requests.
    private static let sharingFindings: [(Flaw, String)] = [
        (
            .sharesByAddress,
            "Many at once: GET \(server)echo must be answered with 15 bytes exactly, and was with others"
        ),
        (.sharesByAddress, "GET \(server)count must be sent once for each of 21 fetches, and was answered with"),
        (
            .sharesByAddressAndMethod,
            "Many at once: POST \(server)echo must be answered with 16 bytes exactly, and was with"
        ),
        (
            .mixesConcurrentAnswers,
            "Many at once: GET \(server)cut-short must fail as interrupted, and was answered with"
        ),
        (
            .answersFromMemory,
            "GET \(server)count must be sent once for each of 21 fetches, and was answered with [1, 1"
        ),
        (
            .answersFromMemoryByAddress,
            "GET \(server)echo must be answered with 33 bytes exactly, and was with others (15"
        ),
        (.sendsTwice, "GET \(server)count must be sent once for each of 21 fetches, and was answered with [2, 4"),
        (.sendsWritesTwice, "POST \(server)echo must be sent once, and was sent 2 times."),
        (.sendsAgainWhenUnavailable, "GET \(server)status-503 must be sent once, and was sent 2 times."),
        (.sendsAgainWhenCutShort, "GET \(server)cut-short must be sent once, and was sent 2 times."),
    ]

    /// What is wrong with what ends early.
    private static let endingFindings: [(Flaw, String)] = [
        (.ignoresEarlyCancellation, "GET \(server)echo must end as cancelled when its task is, and was answered."),
        (.answersWhenCancelled, "GET \(server)silence must end as cancelled when its task is, and was answered."),
        (.answersWhenCancelledSoon, "GET \(server)silence must end as cancelled when its task is, and was answered."),
        (.answersWhenCancelledLate, "GET \(server)silence must end as cancelled when its task is, and was answered."),
        (
            .answersWhenCancelledInBody,
            "GET \(server)unfinished must end as cancelled when its task is, and was answered."
        ),
        (
            .failsOtherwiseWhenCancelledInBody,
            "GET \(server)unfinished must end as cancelled when its task is, and failed as interrupted."
        ),
        (.sendsAfterDeadline, "GET \(server)count must not be sent after its deadline, and was."),
        (.answersAtDeadlineInBody, "GET \(server)unfinished must end as timedOut at its deadline, and was answered."),
        (.ignoresDeadline, "GET \(server)silence must end as timedOut at its deadline, and failed as cancelled."),
        (
            .ignoresDeadlineInBody,
            "GET \(server)unfinished must end as timedOut at its deadline, and failed as cancelled."
        ),
        (.endsBeforeDeadline, "GET \(server)silence must end as timedOut at its deadline, and did before."),
    ]

    private static let server = "http://upstream.test/api/"
}
