import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 section 3, before its subsections: what a cache may store.
struct RFC9111Section3Tests {
    // MARK: 3 Storing responses in caches

    @Test(arguments: CachePolicy.both, ["HEAD", "OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "POST", "QUERY"])
    func onlyResponsesToGetAreStored(policy: CachePolicy, name: String) async throws {
        let method = try #require(DataRequest.Method(name))
        let stage = CacheStage(policy, .fresh("1"), .fresh("2"))
        #expect(try await stage.send(method).text == "1")
        #expect(stage.cache.count == 0)
        #expect(try await stage.get().text == "2")
        #expect(stage.cache.count == 1)
    }

    // RFC 9110 section 9.3.3: a response to POST can be the representation that a later GET would get.
    @Test(arguments: CachePolicy.both)
    func responsesToPostAreStoredForTheirContentLocation(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1", "Content-Location: /a"))
        #expect(try await stage.send(.post, path: "a").cacheStatus == "Inward; fwd=method; stored")
        #expect(try await stage.get(path: "a").text == "1")
        #expect(stage.requests.count == 1)
    }

    @Test func otherResponsesToPostAreNotStored() async throws {
        let answers: [FetchFixture] = [
            .fresh("1"), .fresh("1", "Content-Location: /b"), .fresh("1", status: 404, "Content-Location: /a"),
            .response("1", "Content-Location: /a", "Last-Modified: \(CacheStage.date(-100_000))"),
            .response("1", "Content-Location: /a", "Cache-Control: max-age=60, no-store"),
        ]
        for answer in answers {
            let stage = CacheStage(.private, answer, .response("2"))
            _ = try await stage.send(.post, path: "a")
            #expect(try await stage.get(path: "a").text == "2", "\(answer)")
            #expect(stage.cache.count == 0, "\(answer)")
        }
    }

    @Test(arguments: [100, 102, 103, 199])
    func interimResponsesAreNotStored(code: Int) async throws {
        let interim = FetchFixture.fresh("1", status: DataResponse.Status(code), "ETag: \"a\"")
        let stage = CacheStage(.private, interim, .response("2"))
        _ = try await stage.get()
        #expect(stage.cache.count == 0)
        #expect(try await stage.get().text == "2")
    }

    @Test func aNotModifiedResponseIsNotStoredByItself() async throws {
        let stage = CacheStage(.private, .notModified("Cache-Control: max-age=60", "ETag: \"a\""), .fresh("1"))
        #expect(try await stage.get("If-None-Match: \"a\"").status == .notModified)
        #expect(stage.cache.count == 0)
        #expect(try await stage.get().text == "1")
    }

    @Test(arguments: [
        "Content-Range: lines 0-2/9", "Content-Range: bytes 0-1/9", "Content-Range: bytes 3-1/9",
        "Content-Range: bytes */9", "Content-Type: multipart/byteranges; boundary=x",
    ])
    func partsThatTheCacheDoesNotUnderstandAreNotStored(field: String) async throws {
        let stage = CacheStage(.private, .fresh("012", status: .partialContent, field), .response("2"))
        #expect(try await stage.get("Range: bytes=0-2").text == "012")
        #expect(stage.cache.count == 0)
        #expect(try await stage.get("Range: bytes=0-2").text == "2")
    }

    @Test(arguments: [(299, false), (499, false), (200, true), (203, true), (404, true)])
    func mustUnderstandLimitsStoringToKnownStatuses(code: Int, isStored: Bool) async throws {
        let status = DataResponse.Status(code)
        for directives in ["max-age=60, must-understand", "max-age=60, must-understand, no-store"] {
            let answer = FetchFixture.response("1", status: status, "Cache-Control: \(directives)")
            #expect(try await CacheStage.reuses(answer) == isStored, "\(directives)")
        }
        #expect(try await CacheStage.reuses(.fresh(status: status)))
    }

    @Test(arguments: CachePolicy.both, ["no-store", "no-store, max-age=60", "public, max-age=60, NO-STORE"])
    func noStoreResponsesAreNotStored(policy: CachePolicy, directives: String) async throws {
        let stage = CacheStage(
            policy,
            .response("1", "Cache-Control: \(directives)", "ETag: \"a\""),
            .response("2")
        )
        #expect(try await stage.get().text == "1")
        #expect(stage.cache.count == 0)
        #expect(try await stage.get().text == "2")
    }

    @Test func privateResponsesAreStoredInPrivateCachesOnly() async throws {
        let answer = FetchFixture.response("1", "Cache-Control: private, max-age=60")
        #expect(try await CacheStage.reuses(answer, .private))
        #expect(try await !CacheStage.reuses(answer, .shared))
    }

    @Test(arguments: [("max-age=60", false), ("public, max-age=60", true), ("s-maxage=60", true)])
    func responsesToAuthorizedRequestsAreStoredInSharedCachesIfTheyAllowIt(
        directives: String,
        isShareable: Bool
    ) async throws {
        let answer = FetchFixture.response("1", "Cache-Control: \(directives)", "ETag: \"a\"")
        let stage = CacheStage(.shared, answer)
        _ = try await stage.get("Authorization: Bearer a")
        #expect(stage.cache.count == (isShareable ? 1 : 0))
    }

    @Test func responsesToAuthorizedRequestsAreStoredInPrivateCaches() async throws {
        let credentials = ["Authorization: Bearer a"]
        #expect(try await CacheStage.reuses(.fresh(), .private, first: credentials, second: credentials))
    }

    @Test(arguments: [
        ("ETag: \"b\"", false, false), ("Last-Modified: Sat, 05 Nov 1994 08:00:00 GMT", false, false),
        ("Cache-Control: must-revalidate", false, false), ("Cache-Control: public", true, true),
        ("Cache-Control: private", true, false), ("Cache-Control: max-age=9", true, true),
        ("Cache-Control: s-maxage=9", false, true), ("Expires: Sun, 06 Nov 1994 09:00:00 GMT", true, true),
    ])
    func otherStatusesNeedAFieldThatAllowsStoring(field: String, inPrivate: Bool, inShared: Bool) async throws {
        // A validator, so that the cache has a use for the response.
        let answer = FetchFixture.response("1", status: 302, "ETag: \"a\"", field)
        for (policy, isStored) in [(CachePolicy.private, inPrivate), (.shared, inShared)] {
            let stage = CacheStage(policy, answer)
            _ = try await stage.get()
            #expect(stage.cache.count == (isStored ? 1 : 0), "\(policy)")
        }
    }

    @Test(arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func heuristicallyCacheableStatusesNeedNoField(code: Int) async throws {
        let stage = CacheStage(.private, .response("1", status: DataResponse.Status(code), "ETag: \"a\""))
        _ = try await stage.get()
        #expect(stage.cache.count == 1)
    }

    @Test(arguments: [201, 202, 302, 303, 307, 400, 401, 403, 500, 502, 503])
    func otherStatusesAreNotStoredWithoutAField(code: Int) async throws {
        let stage = CacheStage(.private, .response("1", status: DataResponse.Status(code), "ETag: \"a\""))
        _ = try await stage.get()
        #expect(stage.cache.count == 0)
    }

    @Test func responsesThatCouldNeverBeUsedAreNotStored() async throws {
        let stage = CacheStage(.private, .response("1"), .response("2", "ETag: \"a\""))
        _ = try await stage.get()
        #expect(stage.cache.count == 0)
        _ = try await stage.get()
        #expect(stage.cache.count == 1)
    }
}
