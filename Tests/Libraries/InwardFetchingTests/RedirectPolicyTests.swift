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

struct RedirectPolicyTests {
    /// Sends a request through a policy to a fetcher with prescribed redirects, and returns the requests and the response.
    private func asked(
        _ request: DataRequest,
        answers: [DataResponse],
        policy: RedirectPolicy = .followed(upTo: 5)
    ) async throws(FetchError) -> (requests: [DataRequest], answer: DataResponse) {
        let source = RecordingDataFetcher(ScriptedDataFetcher(answers.map { .answer($0) }))
        let answer = try await policy.answer(to: request, by: source.fetch)
        return (source.requests, answer)
    }

    private func redirect(_ status: DataResponse.Status, to location: String) -> DataResponse {
        DataResponse(status: status, headerFields: [HeaderField(.location, location)])
    }

    @Test func policyCanReturnRedirectsUnfollowed() async throws {
        let redirect = redirect(302, to: "/elsewhere")
        let (requests, answer) = try await asked(.example(), answers: [redirect], policy: .returned)
        #expect(requests.count == 1)
        #expect(answer == redirect)
    }

    @Test(arguments: [-1, 0]) func limitOfZeroMakesAnyRedirectAnError(limit: Int) async throws {
        let error = await #expect(throws: FetchError.self) {
            try await asked(.example(), answers: [redirect(302, to: "/elsewhere")], policy: .followed(upTo: limit))
        }
        #expect(error?.reason == .tooManyRedirects)
    }

    @Test(arguments: [
        ("/b?x=1", "http://upstream.test/b?x=1"), ("b", "http://upstream.test/a/b"),
        ("//other.test/b", "http://other.test/b"), ("https://other.test/", "https://other.test/"),
    ])
    func responsesHaveTheirFinalURL(location: String, target: String) async throws {
        let answers = [redirect(307, to: location), DataResponse(body: Data("x".utf8))]
        let (requests, answer) = try await asked(.example("http://upstream.test/a/a"), answers: answers)
        #expect(requests.last?.url.absoluteString == target)
        #expect(answer.url?.absoluteString == target)
        #expect(answer.body == Data("x".utf8))
    }

    @Test func firstLocationIsFollowed() async throws {
        var redirect = redirect(302, to: "/b")
        redirect.headerFields.append(HeaderField(.location, "/c"))
        let (requests, _) = try await asked(.example("http://upstream.test/a"), answers: [redirect, DataResponse()])
        #expect(requests.map { $0.url.path() } == ["/a", "/b"])
    }

    @Test func responsesWithoutARedirectHaveNoURL() async throws {
        #expect(try await asked(.example(), answers: [DataResponse()]).answer.url == nil)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://other.test/", "javascript:alert(1)", "http://", "", "http://other.test:0/",
        "http://other.test:65536/",
    ])
    func locationsOutsideTheWebAreNotFollowed(location: String) async throws {
        let redirect = redirect(302, to: location)
        let (requests, answer) = try await asked(
            .example("http://upstream.test/a"),
            answers: [redirect, DataResponse()]
        )
        #expect(requests.count == 1)
        #expect(answer == redirect)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"], [301, 302, 303, 307, 308])
    func redirectsOfUnsafeMethodsAreReturned(method: String, status: Int) async throws {
        let request = try DataRequest.example(method: #require(DataRequest.Method(method)), body: Data("x".utf8))
        let redirect = redirect(.init(status), to: "/b")
        let (requests, answer) = try await asked(request, answers: [redirect])
        #expect(requests == [request])
        #expect(answer == redirect)
    }

    @Test(arguments: [DataRequest.Method.get, .head], [301, 302, 303, 307, 308])
    func redirectsKeepTheMethod(method: DataRequest.Method, status: Int) async throws {
        let request = try DataRequest.example(method: method, headerFields: [HeaderField(.accept, "text/plain")])
        let requests = try await asked(request, answers: [redirect(.init(status), to: "/b"), DataResponse()]).requests
        #expect(requests[1].method == method)
        #expect(requests[1].headerFields == request.headerFields)
    }

    @Test(arguments: [
        ("http://evil:p4ss@upstream.test/b", "http://ada:own@upstream.test/b"),
        ("/b", "http://ada:own@upstream.test/b"),
        ("http://evil:p4ss@other.test/b", "http://other.test/b"),
    ])
    func credentialsInTheLocationAreNotUsed(location: String, target: String) async throws {
        let request = try DataRequest.example("http://ada:own@upstream.test/a")
        let requests = try await asked(request, answers: [redirect(302, to: location), DataResponse()]).requests
        #expect(requests[1].url.absoluteString == target)
    }

    @Test(arguments: [
        ("http://upstream.test/b", true), ("http://UPSTREAM.test:80/b", true), ("https://upstream.test/b", false),
        ("http://upstream.test:8080/b", false), ("http://other.test/b", false), ("http://upstream.test.evil/b", false),
    ])
    func credentialsAreNotRedirectedToAnotherOrigin(location: String, staysWithOrigin: Bool) async throws {
        let custom = try #require(HeaderField.Name("X-Custom"))
        let request = try DataRequest.example(headerFields: [
            HeaderField(.authorization, "Bearer a"), HeaderField(.cookie, "a"), HeaderField(.proxyAuthorization, "a"),
            HeaderField(custom, "a", isSensitive: true), HeaderField(.host, "upstream.test"),
            HeaderField(.accept, "text/plain"),
        ])
        let requests = try await asked(request, answers: [redirect(302, to: location), DataResponse()]).requests
        #expect(requests[1].headerFields.count == (staysWithOrigin ? 6 : 1))
        #expect(requests[1].headerFields[.accept] == "text/plain")
    }

    @Test(arguments: ["http://upstream.test/b", "HTTP://other.test/", "http://127.0.0.1/", "http://upstream.test:443/"])
    func redirectFromHTTPSToHTTPIsAnError(location: String) async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.answer(redirect(302, to: location))]))
        let request = try DataRequest.example("https://upstream.test/a")
        let error = await #expect(throws: FetchError.self) {
            try await RedirectPolicy.followed(upTo: 5).answer(to: request, by: source.fetch)
        }
        #expect(source.requests == [request])
        #expect(error?.reason == .untrusted)
        #expect(error?.explanation.contains("from https to http") == true)
        #expect(error?.canRetry == false)
    }

    /// A detour by HTTPS does not help. Redirects from HTTP to HTTPS are followed.
    @Test func redirectViaHTTPSBackToHTTPIsAnError() async throws {
        let answers = [
            redirect(302, to: "https://upstream.test/"), redirect(302, to: "https://other.test/"),
            redirect(302, to: "http://upstream.test/users"),
        ]
        let error = await #expect(throws: FetchError.self) { try await asked(.example(), answers: answers) }
        #expect(error?.reason == .untrusted)
    }

    @Test func onlyHarmlessFieldsAreSentToAnotherOrigin() async throws {
        let harmless = [
            "Accept", "Accept-Charset", "Accept-Encoding", "ACCEPT-LANGUAGE", "User-Agent", "Range", "If-Range",
            "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Cache-Control",
        ]
        let others = [
            "traceparent", "tracestate", "baggage", "b3", "X-B3-TraceId", "Cookie", "Authorization", "X-Api-Key",
            "X-Secret", "X-Request-Deadline", "Idempotency-Key", "Referer", "Origin", "Host", "Accepted-Secret",
        ]
        let fields = try (harmless + others).map { HeaderField(try #require(HeaderField.Name($0)), "a") }
        let request = try DataRequest.example(headerFields: HeaderFields(fields))
        let answers = [redirect(302, to: "http://other.test/"), DataResponse()]
        let requests = try await asked(request, answers: answers).requests
        #expect(requests[1].headerFields.map(\.name.rawValue) == harmless)
        // Within the origin, all fields are sent.
        let within = try await asked(request, answers: [redirect(302, to: "/b"), DataResponse()]).requests
        #expect(within[1].headerFields == request.headerFields)
    }

    @Test func fieldsNamedByThePolicyAreSentToAnotherOrigin() async throws {
        let trace = try #require(HeaderField.Name("traceparent"))
        let request = try DataRequest.example(headerFields: [
            HeaderField(trace, "a"), HeaderField(.authorization, "b"), HeaderField(.cookie, "c"),
            HeaderField(.host, "d"),
        ])
        let policy = RedirectPolicy.followed(upTo: 1, sendingElsewhere: [trace, .cookie, .host])
        let answers = [redirect(302, to: "http://other.test/"), DataResponse()]
        let requests = try await asked(request, answers: answers, policy: policy).requests
        #expect(requests[1].headerFields.map(\.name) == [trace, .cookie])
    }

    @Test func sensitiveFieldsAreNotSentToAnotherOrigin() async throws {
        let request = try DataRequest.example(headerFields: [HeaderField(.accept, "s3cret", isSensitive: true)])
        let answers = [redirect(302, to: "http://other.test/"), DataResponse()]
        #expect(try await asked(request, answers: answers).requests[1].headerFields.isEmpty)
    }

    @Test func redirectToALongURLIsAnError() async throws {
        let start = "http://upstream.test/"
        let longest = start + String(repeating: "x", count: 8_192 - start.utf8.count)
        #expect(try await asked(.example(), answers: [redirect(302, to: longest), DataResponse()]).requests.count == 2)
        let source = RecordingDataFetcher(ScriptedDataFetcher([.answer(redirect(302, to: longest + "x"))]))
        let error = await #expect(throws: FetchError.self) {
            try await RedirectPolicy.followed(upTo: 5).answer(to: .example(), by: source.fetch)
        }
        #expect(source.requests.count == 1)
        #expect(error?.reason == .tooLarge)
        #expect("\(try #require(error))".utf8.count < 1_000)
    }

    @Test func longLocationIsAnErrorEvenIfItResolvesToAShortURL() async throws {
        let request = try DataRequest.example()
        for (count, isFollowed) in [(2_730, true), (2_731, false)] {
            // 8,191 bytes are allowed. 8,194 bytes are not, although the URL that they resolve to is short.
            let location = String(repeating: "/..", count: count) + "/"
            let answers = [redirect(302, to: location), DataResponse()]
            let outcome = await Result { () async throws(FetchError) in
                try await asked(request, answers: answers)
            }
            #expect(outcome.failure?.reason == (isFollowed ? nil : .tooLarge))
        }
    }

    /// An escaped "é" has six bytes, and a relative URL becomes longer by its base.
    @Test(arguments: [String(repeating: "é", count: 2_000), String(repeating: "x", count: 4_200)])
    func locationThatResolvesToALongURLIsAnError(location: String) async throws {
        let address = "http://upstream.test/" + String(repeating: "a", count: 4_000) + "/b"
        let source = RecordingDataFetcher(ScriptedDataFetcher([.answer(redirect(302, to: location))]))
        let error = await #expect(throws: FetchError.self) {
            try await RedirectPolicy.followed(upTo: 5).answer(to: .example(address), by: source.fetch)
        }
        #expect(source.requests.count == 1)
        #expect(error?.reason == .tooLarge)
    }

    @Test func droppedCredentialsAreNotSentAgain() async throws {
        let request = try DataRequest.example(headerFields: [HeaderField(.authorization, "Bearer a")])
        let answers = [
            redirect(302, to: "http://other.test/"), redirect(302, to: "http://upstream.test/users"), DataResponse(),
        ]
        #expect(try await asked(request, answers: answers).requests[2].headerFields.isEmpty)
    }

    @Test func redirectsAboveTheLimitAreErrors() async throws {
        let redirects = (1...3).map { redirect(302, to: "/\($0)") }
        #expect(
            try await asked(.example(), answers: redirects + [DataResponse()], policy: .followed(upTo: 3)).requests
                .count == 4
        )
        let error = await #expect(throws: FetchError.self) {
            try await asked(.example(), answers: redirects, policy: .followed(upTo: 2))
        }
        #expect(error?.reason == .tooManyRedirects)
        #expect(error?.explanation.contains("http://upstream.test/3") == true)
    }

    @Test(arguments: [300, 304, 305, 200, 404])
    func otherStatusesAreNotRedirects(status: Int) async throws {
        let answer = redirect(.init(status), to: "/b")
        #expect(try await asked(.example(), answers: [answer]).answer == answer)
    }

    @Test func redirectsWithoutALocationAreReturned() async throws {
        #expect(try await asked(.example(), answers: [DataResponse(status: 302)]).answer.status == 302)
    }
}
