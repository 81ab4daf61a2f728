import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 section 5.2.2: directives in responses.
struct RFC9111Section522Tests {
    private func answer(_ directives: String, _ fields: String...) -> FetchFixture {
        .answer(DataResponse("1", ["Cache-Control: \(directives)"] + fields))
    }

    /// Returns whether a cache uses a response 10 seconds after its expiry although the upstream does not confirm it.
    private func isUsedStale(
        _ directives: String,
        _ policy: CachePolicy,
        _ failure: FetchFixture = .failure(.unreachable)
    ) async throws -> Bool {
        let stage = CacheStage(policy, answer(directives, "ETag: \"a\""), failure)
        _ = try await stage.get()
        stage.advance(70)
        return (try? await stage.get())?.text == "1"
    }

    // MARK: 5.2.2.1 max-age

    @Test(arguments: CachePolicy.both)
    func maxAgeLimitsTheTimeForWhichAResponseIsFresh(policy: CachePolicy) async throws {
        for seconds in [1, 60, 86_401] {
            #expect(try await CacheStage.lifetime(of: answer("max-age=\(seconds)"), policy) == seconds)
        }
        #expect(try await CacheStage.lifetime(of: answer("max-age=0", "ETag: \"a\""), policy) == 0)
    }

    // MARK: 5.2.2.2 must-revalidate

    @Test(arguments: CachePolicy.both)
    func mustRevalidateForbidsStaleUseEvenWhenDisconnected(policy: CachePolicy) async throws {
        #expect(try await isUsedStale("max-age=60", policy))
        #expect(try await !isUsedStale("max-age=60, must-revalidate", policy))
        #expect(try await !isUsedStale("max-age=60, must-revalidate, stale-if-error=60", policy))
        #expect(
            try await !isUsedStale("max-age=60, must-revalidate, stale-if-error=60", policy, .response(status: 503))
        )
        let stale = answer("max-age=60, must-revalidate, stale-while-revalidate=60")
        #expect(try await !CacheStage.reuses(stale, policy, after: 70))
        #expect(try await !CacheStage.reuses(stale, policy, after: 70, second: ["Cache-Control: max-stale"]))
    }

    @Test func mustRevalidateAllowsUseWhileFresh() async throws {
        #expect(try await CacheStage.reuses(answer("max-age=60, must-revalidate"), after: 59))
    }

    @Test func mustRevalidateAllowsUseAfterValidation() async throws {
        let stage = CacheStage(
            .private,
            answer("max-age=60, must-revalidate", "ETag: \"a\""),
            .notModified("ETag: \"a\"")
        )
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "1")
        #expect(try await stage.get().isReused)
    }

    // MARK: 5.2.2.3 must-understand

    @Test(arguments: CachePolicy.both)
    func mustUnderstandOverridesNoStoreForKnownStatuses(policy: CachePolicy) async throws {
        #expect(try await CacheStage.reuses(answer("max-age=60, no-store, must-understand"), policy))
        #expect(try await !CacheStage.reuses(answer("max-age=60, no-store"), policy))
        let unknown = FetchFixture.response("1", status: 299, "Cache-Control: max-age=60, no-store, must-understand")
        #expect(try await !CacheStage.reuses(unknown, policy))
    }

    // MARK: 5.2.2.4 no-cache

    @Test(arguments: CachePolicy.both)
    func noCacheForbidsUseWithoutValidation(policy: CachePolicy) async throws {
        for directives in [
            "max-age=60, no-cache", "no-cache", "max-age=60, no-cache=\"\"", "max-age=60, no-cache=\"a b\"",
        ] {
            let stage = CacheStage(
                policy,
                answer(directives, "ETag: \"a\""),
                .failure(.unreachable),
                .notModified("ETag: \"a\"")
            )
            _ = try await stage.get()
            await #expect(throws: FetchError.self, "\(directives)") { try await stage.get("Cache-Control: max-stale") }
            #expect(try await stage.get().text == "1", "\(directives)")
            #expect(stage.requests.count == 3, "\(directives)")
        }
    }

    @Test(arguments: ["no-cache=\"X-A, x-b\"", "no-cache=\"x-a\", no-cache=\"x-b\"", "no-cache=\"x-a,,X-B,\""])
    func noCacheWithFieldsExcludesThem(directives: String) async throws {
        let stage = CacheStage(.private, answer("max-age=60, \(directives)", "X-A: 1", "X-B: 1", "X-C: 1"))
        #expect(try await stage.get()["X-A"] == "1")
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy["X-A"] == nil)
        #expect(copy["X-B"] == nil)
        #expect(copy["X-C"] == "1")
    }

    @Test func noCacheWithATokenWorksToo() async throws {
        let stage = CacheStage(.private, answer("max-age=60, no-cache=x-a", "X-A: 1"))
        _ = try await stage.get()
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy["X-A"] == nil)
    }

    // MARK: 5.2.2.5 no-store

    @Test(arguments: CachePolicy.both)
    func noStoreForbidsStoringAndUse(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, answer("max-age=60, no-store", "ETag: \"a\""), .failure(.unreachable))
        _ = try await stage.get()
        #expect(stage.cache.count == 0)
        #expect(stage.cache.bodyCount == 0)
        await #expect(throws: FetchError.self) { try await stage.get() }
    }

    // MARK: 5.2.2.7 private

    @Test func privateForbidsStoringInSharedCaches() async throws {
        for directives in [
            "private, max-age=60", "public, private, max-age=60", "private=\"\", max-age=60",
            "PRIVATE, s-maxage=60, max-age=60",
        ] {
            #expect(try await CacheStage.reuses(answer(directives), .private), "\(directives)")
            #expect(try await !CacheStage.reuses(answer(directives), .shared), "\(directives)")
        }
    }

    @Test func privateAllowsAnyStatusInPrivateCaches() async throws {
        for (policy, count) in [(CachePolicy.private, 1), (.shared, 0)] {
            let stage = CacheStage(policy, .response("1", status: 499, "Cache-Control: private", "ETag: \"a\""))
            _ = try await stage.get()
            #expect(stage.cache.count == count)
        }
    }

    @Test(arguments: ["private=\"X-A, x-b\"", "private=\"x-a\", private=\"x-b\""])
    func privateWithFieldsKeepsThemOutOfSharedCaches(directives: String) async throws {
        for (policy, value) in [(CachePolicy.private, "1"), (.shared, nil)] {
            let stage = CacheStage(policy, answer("max-age=60, \(directives)", "X-A: 1", "X-B: 1", "X-C: 1"))
            _ = try await stage.get()
            let copy = try await stage.get()
            #expect(copy.isReused)
            #expect(copy["X-A"] == value)
            #expect(copy["X-B"] == value)
            #expect(copy["X-C"] == "1")
        }
    }

    // MARK: 5.2.2.8 proxy-revalidate

    @Test func proxyRevalidateForbidsStaleUseInSharedCaches() async throws {
        let directives = "max-age=60, proxy-revalidate"
        #expect(try await !isUsedStale(directives, .shared))
        #expect(try await isUsedStale(directives, .private))
        let stale = answer("\(directives), stale-while-revalidate=60")
        #expect(try await !CacheStage.reuses(stale, .shared, after: 70))
        #expect(try await CacheStage.reuses(stale, .private, after: 70))
        #expect(try await CacheStage.reuses(stale, .shared, after: 59))
    }

    @Test func proxyRevalidateAloneDoesNotAllowStoring() async throws {
        let stage = CacheStage(.shared, .response("1", status: 302, "Cache-Control: proxy-revalidate", "ETag: \"a\""))
        _ = try await stage.get()
        #expect(stage.cache.count == 0)
    }

    // MARK: 5.2.2.9 public

    @Test(arguments: CachePolicy.both)
    func publicAllowsStoring(policy: CachePolicy) async throws {
        let modified = "Last-Modified: \(CacheStage.date(-1_000))"
        for (directives, seconds) in [("public", 100), ("x", 0)] {
            let redirect = FetchFixture.response("1", status: 302, "Cache-Control: \(directives)", modified)
            #expect(try await CacheStage.lifetime(of: redirect, policy) == seconds)
        }
    }

    @Test func publicAllowsReuseOfResponsesToAuthorizedRequests() async throws {
        let credentials = ["Authorization: Bearer a"]
        #expect(try await CacheStage.reuses(answer("public, max-age=60"), .shared, first: credentials))
        #expect(try await !CacheStage.reuses(answer("max-age=60"), .shared, first: credentials))
    }

    @Test func publicDoesNotOverrideNoStore() async throws {
        #expect(try await !CacheStage.reuses(answer("public, no-store, max-age=60"), .shared))
    }

    // MARK: 5.2.2.10 s-maxage

    @Test func sharedMaxAgeCountsInSharedCaches() async throws {
        for (directives, inPrivate, inShared) in [
            ("max-age=60, s-maxage=30", 60, 30), ("max-age=60, s-maxage=0", 60, 0),
        ] {
            let response = answer(directives, "ETag: \"a\"", "Expires: \(CacheStage.date(45))")
            #expect(try await CacheStage.lifetime(of: response, .private) == inPrivate)
            #expect(try await CacheStage.lifetime(of: response, .shared) == inShared)
        }
    }

    @Test func sharedMaxAgeForbidsStaleUseInSharedCaches() async throws {
        #expect(try await !isUsedStale("max-age=60, s-maxage=60", .shared))
        #expect(try await isUsedStale("max-age=60, s-maxage=60", .private))
        let stale = answer("s-maxage=60, max-age=60, stale-while-revalidate=60")
        #expect(try await !CacheStage.reuses(stale, .shared, after: 70))
        #expect(try await CacheStage.reuses(stale, .private, after: 70))
    }
}
