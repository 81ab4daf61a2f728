import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9211: what `Cache-Status` says. Collapsed requests are in ``RFC9111Section4Tests``.
struct RFC9211Tests {
    private static let tag = "ETag: \"a\""

    // MARK: 2.1 hit

    @Test(arguments: CachePolicy.both)
    func aHitHasItsRemainingLifetime(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("0123"))
        #expect(try await stage.get().cacheStatus == "Inward; fwd=uri-miss; stored; ttl=60")
        stage.advance(25)
        #expect(try await stage.get().cacheStatus == "Inward; hit; ttl=35")
        #expect(try await stage.send(.head).cacheStatus == "Inward; hit; ttl=35")
        #expect(try await stage.get("Range: bytes=1-2").cacheStatus == "Inward; hit; ttl=35")
        #expect(try await stage.get("If-None-Match: *").cacheStatus == "Inward; hit; ttl=35")
        stage.advance(40)
        #expect(try await stage.get("Cache-Control: max-stale").cacheStatus == "Inward; hit; ttl=-5")
    }

    @Test func theCacheHasTheNameOfItsPolicy() async throws {
        var policy = CachePolicy.private
        policy.name = "Example"
        let stage = CacheStage(policy, .fresh("1"))
        #expect(try await stage.get().cacheStatus == "Example; fwd=uri-miss; stored; ttl=60")
        #expect(try await stage.get().cacheStatus == "Example; hit; ttl=60")
    }

    @Test func cachesNearerToTheOriginComeFirst() async throws {
        let stage = CacheStage(.private, .fresh("1", "Cache-Status: Origin; hit"))
        #expect(try await stage.get().cacheStatus == "Origin; hit, Inward; fwd=uri-miss; stored; ttl=60")
        #expect(try await stage.get().cacheStatus == "Inward; hit; ttl=60")
    }

    // MARK: 2.2 fwd

    @Test func aMissNamesItsReason() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept"),
            .fresh("2", "Vary: Accept"),
            .response("3", status: 500),
            .response("4", status: 500)
        )
        #expect(try await stage.get("Accept: a").cacheStatus == "Inward; fwd=uri-miss; stored; ttl=60")
        #expect(try await stage.get("Accept: b").cacheStatus == "Inward; fwd=vary-miss; stored; ttl=60")
        #expect(try await stage.get("Accept: a", "Cache-Control: no-cache").cacheStatus == "Inward; fwd=request")
        stage.advance(60)
        #expect(try await stage.get("Accept: a").cacheStatus == "Inward; fwd=stale")
    }

    @Test(arguments: ["max-age=5", "min-fresh=55", "no-store"])
    func aDemandOfTheRequestIsNamed(directives: String) async throws {
        let stage = CacheStage(.private, .fresh("1"), .response("2"))
        _ = try await stage.get()
        stage.advance(10)
        #expect(try await stage.get("Cache-Control: \(directives)").cacheStatus == "Inward; fwd=request")
    }

    @Test(arguments: ["POST", "PUT", "OPTIONS"])
    func anotherMethodIsNamed(name: String) async throws {
        let stage = CacheStage(.private, .fresh("1"))
        #expect(try await stage.send(#require(DataRequest.Method(name))).cacheStatus == "Inward; fwd=method")
    }

    @Test func aConditionForTheOriginIsABypass() async throws {
        let stage = CacheStage(.private, .fresh("1"))
        #expect(try await stage.get("If-Match: \"a\"").cacheStatus == "Inward; fwd=bypass")
        #expect(stage.cache.count == 0)
    }

    @Test func aPartThatDoesNotSufficeIsNamed() async throws {
        let stage = CacheStage(
            .private,
            .fresh("01", status: .partialContent, "Content-Range: bytes 0-1/4", Self.tag),
            .fresh("0123", Self.tag)
        )
        _ = try await stage.get("Range: bytes=0-1")
        #expect(try await stage.get().cacheStatus == "Inward; fwd=partial; stored; ttl=60")
    }

    // MARK: 2.3 fwd-status

    @Test func theStatusOfAConfirmationIsNamed() async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag), .notModified(Self.tag))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().cacheStatus == "Inward; fwd=stale; fwd-status=304; stored; ttl=60")
    }

    @Test func theStatusBehindAnAnswerToTheCallersConditionIsNamed() async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag), .fresh("2", "ETag: \"b\""))
        _ = try await stage.get()
        stage.advance(60)
        let answer = try await stage.get("If-None-Match: \"b\"")
        #expect(answer.cacheStatus == "Inward; fwd=stale; fwd-status=200; stored; ttl=60")
    }

    @Test func theStatusOfAnErrorThatAStaleResponseReplacesIsNamed() async throws {
        let answer = FetchFixture.response("1", "Cache-Control: max-age=60, stale-if-error=10")
        let stage = CacheStage(.private, answer, .response("2", status: 503))
        _ = try await stage.get()
        stage.advance(65)
        let stale = try await stage.get()
        #expect(stale.text == "1")
        #expect(stale.cacheStatus == "Inward; fwd=stale; fwd-status=503; ttl=-5")
    }

    @Test func aStaleResponseOfADisconnectedCacheIsAHit() async throws {
        let stage = CacheStage(.private, .fresh("1"), .failure(.unreachable))
        _ = try await stage.get()
        stage.advance(65)
        #expect(try await stage.get().cacheStatus == "Inward; hit; ttl=-5")
    }

    // MARK: 2.5 stored

    @Test(arguments: [("no-store", false), ("max-age=60", true)])
    func onlyStoredResponsesAreSaidToBeStored(directives: String, isStored: Bool) async throws {
        let stage = CacheStage(.private, .response("1", "Cache-Control: \(directives)"))
        let status = isStored ? "Inward; fwd=uri-miss; stored; ttl=60" : "Inward; fwd=uri-miss"
        #expect(try await stage.get().cacheStatus == status)
    }

    // MARK: 2.8 detail

    @Test func aRequestThatTheCacheMustNotForwardHasADetail() async throws {
        #expect(
            try await CacheStage().get("Cache-Control: only-if-cached").cacheStatus == "Inward; detail=only-if-cached"
        )
    }
}
