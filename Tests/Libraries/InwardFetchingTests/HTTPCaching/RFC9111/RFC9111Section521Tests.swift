import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 section 5.2.1: directives in requests.
struct RFC9111Section521Tests {
    /// Returns whether a request with directives gets a stored response, from a private cache and from a shared one.
    private func reuses(_ answer: FetchFixture, after seconds: Int, _ directives: String) async throws -> Bool {
        let second = ["Cache-Control: \(directives)"]
        let isReused = try await CacheStage.reuses(answer, .private, after: seconds, second: second)
        #expect(try await CacheStage.reuses(answer, .shared, after: seconds, second: second) == isReused)
        return isReused
    }

    // MARK: 5.2.1.1 max-age

    @Test(arguments: [(0, 0, false), (0, 1, true), (20, 20, true), (21, 20, false), (59, 100, true), (60, 100, false)])
    func maxAgeLimitsTheAge(seconds: Int, limit: Int, isReused: Bool) async throws {
        #expect(try await reuses(.fresh("1"), after: seconds, "max-age=\(limit)") == isReused)
    }

    @Test func aRequestWithMaxAgeAcceptsStaleResponsesOnlyWithMaxStale() async throws {
        let answer = FetchFixture.response("1", "Cache-Control: max-age=60, stale-while-revalidate=60")
        #expect(try await reuses(answer, after: 70, "max-age=100, max-stale=60"))
        #expect(try await reuses(answer, after: 70, "x"))
        #expect(try await !reuses(answer, after: 70, "max-age=100"))
        #expect(try await !reuses(.fresh("1"), after: 70, "max-age=60, max-stale=60"))
    }

    // MARK: 5.2.1.2 max-stale

    @Test(arguments: [
        (60, "max-stale=0", true), (70, "max-stale=10", true), (71, "max-stale=10", false), (70, "max-stale=x", false),
    ])
    func maxStaleLimitsTheTimeSinceExpiry(seconds: Int, directives: String, isReused: Bool) async throws {
        #expect(try await reuses(.fresh("1"), after: seconds, directives) == isReused)
    }

    @Test func maxStaleWithoutAValueAcceptsAnyAge() async throws {
        #expect(try await reuses(.fresh("1"), after: 31_000_000, "max-stale"))
        #expect(try await !reuses(.fresh("1"), after: 31_000_000, "max-stale=30000000"))
    }

    // MARK: 5.2.1.3 min-fresh

    @Test(arguments: [(40, 20, true), (41, 20, false), (0, 60, true), (0, 61, false), (59, 1, true)])
    func minFreshDemandsARemainingLifetime(seconds: Int, minimum: Int, isReused: Bool) async throws {
        #expect(try await reuses(.fresh("1"), after: seconds, "min-fresh=\(minimum)") == isReused)
    }

    @Test func minFreshExcludesStaleResponses() async throws {
        let answer = FetchFixture.response("1", "Cache-Control: max-age=60, stale-while-revalidate=60")
        #expect(try await !reuses(answer, after: 70, "min-fresh=0"))
        #expect(try await !reuses(answer, after: 70, "min-fresh=0, max-stale=60"))
        #expect(try await reuses(answer, after: 70, "max-stale=60"))
    }

    // MARK: 5.2.1.4 no-cache

    @Test(arguments: CachePolicy.both)
    func noCacheDemandsValidation(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1", "ETag: \"a\""), .notModified("ETag: \"a\""), .failure(.unreachable))
        _ = try await stage.get()
        let answer = try await stage.get("Cache-Control: no-cache")
        #expect(answer.text == "1")
        #expect(answer.cacheStatus == "Inward; fwd=request; fwd-status=304; stored; ttl=60")
        await #expect(throws: FetchError.self) { try await stage.get("Cache-Control: no-cache") }
        #expect(try await stage.get().isReused)
    }

    @Test(arguments: ["no-cache", "no-store", "max-age=0", "max-age=100", "min-fresh=0"])
    func aRequestThatDoesNotAcceptStaleResponsesGetsNoneEvenWhenDisconnected(directives: String) async throws {
        let stage = CacheStage(.private, .fresh("1"), .failure(.unreachable), .failure(.unreachable))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "1")
        await #expect(throws: FetchError.self) { try await stage.get("Cache-Control: \(directives)") }
    }

    // MARK: 5.2.1.5 no-store

    @Test(arguments: CachePolicy.both)
    func aResponseToANoStoreRequestIsNotStored(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1"), .fresh("2"))
        #expect(try await stage.get("Cache-Control: no-store").text == "1")
        #expect(stage.cache.count == 0)
        #expect(try await stage.get().text == "2")
    }

    @Test func aNoStoreRequestStoresNothingOfAConfirmation() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "ETag: \"a\"", "X: old"),
            .notModified("ETag: \"a\"", "X: new"),
            .fresh("2")
        )
        _ = try await stage.get()
        #expect(try await stage.get("Cache-Control: no-store").text == "1")
        #expect(try await stage.get()["X"] != "new")
    }

    @Test(arguments: [FetchFixture.notModified("ETag: \"a\""), .fresh("2"), .response("3", status: 404)])
    func aNoStoreRequestKeepsWhatIsStored(answer: FetchFixture) async throws {
        let stage = CacheStage(.private, .fresh("1", "ETag: \"a\""), answer)
        _ = try await stage.get()
        _ = try await stage.get("Cache-Control: no-store")
        #expect(try await stage.get().text == "1")
    }

    // MARK: 5.2.1.6 no-transform

    @Test(arguments: CachePolicy.both)
    func contentIsNotTransformed(policy: CachePolicy) async throws {
        let fields = ["Content-Type: image/png", "Content-Encoding: gzip", "Content-Range: x"]
        let stage = CacheStage(
            policy,
            .response("\u{1}\u{2}", "Cache-Control: max-age=60, no-transform", fields[0], fields[1], fields[2])
        )
        for _ in 1...2 {
            let answer = try await stage.get("Cache-Control: no-transform", "Accept-Encoding: identity")
            #expect(answer.text == "\u{1}\u{2}")
            #expect(answer["Content-Type"] == "image/png")
            #expect(answer["Content-Encoding"] == "gzip")
        }
        #expect(stage.requests.count == 1)
    }

    // MARK: 5.2.1.7 only-if-cached

    @Test(arguments: CachePolicy.both)
    func onlyIfCachedIsAnsweredFromTheCacheOrWithAStatus(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1", "ETag: \"a\""))
        let missing = try await stage.get("Cache-Control: only-if-cached")
        #expect(missing.status == 504)
        #expect(missing.isReused)
        #expect(stage.requests.isEmpty)
        _ = try await stage.get()
        stage.advance(10)
        #expect(try await stage.get("Cache-Control: only-if-cached").text == "1")
        // With other constraints.
        for directives in ["max-age=9", "min-fresh=51", "no-cache", "no-store"] {
            let answer = try await stage.get("Cache-Control: only-if-cached, \(directives)")
            #expect(answer.status == 504, "\(directives)")
        }
        #expect(try await stage.get("Cache-Control: only-if-cached, max-age=10, min-fresh=50").text == "1")
        stage.advance(60)
        #expect(try await stage.get("Cache-Control: only-if-cached").status == 504)
        #expect(try await stage.get("Cache-Control: only-if-cached, max-stale").text == "1")
        #expect(stage.requests.count == 1)
    }
}
