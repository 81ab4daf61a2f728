import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

/// RFC 9111 section 4.4: requests that make stored responses invalid.
struct RFC9111Section44Tests {
    private static let unsafe = ["POST", "PUT", "PATCH", "DELETE", "MOVE", "UNKNOWN"]

    /// Returns whether the response for a path is still reused after an unsafe request for `a`.
    private func survives(
        _ path: String,
        _ method: String = "POST",
        policy: CachePolicy = .private,
        answer: FetchFixture
    ) async throws -> Bool {
        let stage = CacheStage(policy, .fresh("1"), answer, .fresh("2"))
        _ = try await stage.get(path: path)
        _ = try? await stage.send(#require(DataRequest.Method(method)), path: "a")
        return try await stage.get(path: path).isReused
    }

    // MARK: 4.4 Invalidating stored responses

    @Test(arguments: CachePolicy.both, unsafe)
    func aSuccessfulUnsafeRequestInvalidatesItsURL(policy: CachePolicy, method: String) async throws {
        for code in [200, 201, 204, 299, 302, 303, 399] {
            let answer = FetchFixture.response(status: DataResponse.Status(code))
            #expect(try await !survives("a", method, policy: policy, answer: answer), "\(code)")
            #expect(try await survives("b", method, policy: policy, answer: answer), "\(code)")
            #expect(try await survives("a?b", method, policy: policy, answer: answer), "\(code)")
        }
    }

    @Test(arguments: unsafe)
    func anUnsuccessfulUnsafeRequestInvalidatesNothing(method: String) async throws {
        for code in [400, 404, 412, 500, 503] {
            let answer = FetchFixture.response(status: DataResponse.Status(code), "Location: /a")
            #expect(try await survives("a", method, answer: answer), "\(code)")
        }
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE"])
    func aSafeRequestInvalidatesNothing(method: String) async throws {
        #expect(try await survives("b", method, answer: .response("", "Location: /b", "Content-Location: /b")))
        if method != "GET" { #expect(try await survives("a", method, answer: .response())) }
    }

    @Test(arguments: ["Location", "Content-Location"])
    func theURLsInTheResponseAreInvalidated(name: String) async throws {
        for location in ["/b", "b", "http://upstream.test/b", "//upstream.test/b", "x/../b"] {
            #expect(try await !survives("b", answer: .response("", "\(name): \(location)")), "\(location)")
        }
        #expect(try await survives("c", answer: .response("", "\(name): /b")))
        #expect(try await survives("b", answer: .response("", status: 404, "\(name): /b")))
    }

    @Test(arguments: ["Location", "Content-Location"])
    func urlsOfOtherOriginsAreNotInvalidated(name: String) async throws {
        let others = ["http://other.test/b", "https://upstream.test/b", "http://upstream.test:81/b"]
        for other in others {
            let stage = CacheStage(.private, .fresh("1"), .response("", "\(name): \(other)"))
            let request = try DataRequest.example(other)
            _ = try await stage.fetcher.fetch(request)
            _ = try await stage.send(.post, path: "a")
            #expect(try await stage.fetcher.fetch(request).isReused, "\(other)")
        }
    }

    @Test func allVariantsOfTheURLAreInvalidated() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept"),
            .fresh("2", "Vary: Accept"),
            .response(),
            .fresh("3"),
            .fresh("4")
        )
        for number in 1...2 { _ = try await stage.get("Accept: \(number)") }
        #expect(stage.cache.count == 2)
        _ = try await stage.send(.delete)
        #expect(stage.cache.count == 0)
    }

    @Test(arguments: [FetchError.Reason.interrupted, .timedOut])
    func anUnsafeRequestWithoutAnAnswerInvalidatesItsURL(reason: FetchError.Reason) async throws {
        #expect(try await !survives("a", answer: .failure(reason)))
        #expect(try await survives("b", answer: .failure(reason)))
    }

    @Test func aResponseFromBeforeTheChangeIsNotStored() async throws {
        let (asked, goOn) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let stage = CacheStage(
            upstream: StubDataFetcher { request throws(FetchError) in
                if request.method == .get {
                    await asked.arrive()
                    await goOn.arrive()
                }
                return DataResponse("", ["Cache-Control: max-age=60"])
            }
        )
        async let old = stage.get()
        await asked.arrive()
        _ = try await stage.send(.put)
        await goOn.arrive()
        #expect(try await old.cacheStatus == "Inward; fwd=uri-miss")
        #expect(stage.cache.count == 0)
    }

    @Test func aPolicyInvalidatesAllURLs() async throws {
        var policy = CachePolicy.private
        policy.invalidatesAll = true
        #expect(try await !survives("b", policy: policy, answer: .response()))
        #expect(try await !survives("b", policy: policy, answer: .response(status: 500)))
        #expect(try await survives("b", "OPTIONS", policy: policy, answer: .response()))
    }
}
