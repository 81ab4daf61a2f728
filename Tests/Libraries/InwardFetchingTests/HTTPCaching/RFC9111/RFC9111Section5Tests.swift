import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 sections 5.1, 5.2, 5.2.3 to 5.5 and 7: fields for caches, and security.
struct RFC9111Section5Tests {
    // MARK: 5.1 Age

    @Test(arguments: CachePolicy.both)
    func theFirstOfSeveralAgesCounts(policy: CachePolicy) async throws {
        for fields in [["Age: 20", "Age: 40"], ["Age: 20, 40"], ["Age: 20 , x"]] {
            let answer = FetchFixture.answer(DataResponse("1", ["Cache-Control: max-age=60"] + fields))
            #expect(try await CacheStage.lifetime(of: answer, policy, upTo: 100) == 40, "\(fields)")
        }
    }

    @Test(arguments: ["x", "-20", "+20", "1.5", "20s", "0x20", "", "\"20\""])
    func anInvalidAgeIsIgnored(age: String) async throws {
        #expect(try await CacheStage.lifetime(of: .fresh("1", "Age: \(age)"), upTo: 100) == 60)
    }

    @Test(arguments: ["60", "2147483648", "9999999999999999999999"])
    func anAgeCanBeAsLargeAsItLikes(age: String) async throws {
        #expect(try await CacheStage.lifetime(of: .fresh("1", "Age: \(age)", "ETag: \"a\""), upTo: 100) == 0)
    }

    // MARK: 5.2 Cache-Control

    @Test(arguments: ["max-age=30", "no-transform", "x-new=\"a, b\"", "only-if-cached=no, no-cache"])
    func directivesArePassedThrough(directives: String) async throws {
        let stage = CacheStage(.private, .response("1", "Cache-Control: \(directives), max-age=60"))
        let answer = try await stage.get("Cache-Control: x=\(directives)")
        #expect(stage.requests[0].headerFields[.cacheControl] == "x=\(directives)")
        #expect(answer.headerFields[.cacheControl] == "\(directives), max-age=60")
    }

    @Test(arguments: [
        "max-age=60", "MAX-AGE=60", "Max-Age=\"60\"", "max-age=\"\\6\\0\"", " , max-age=60 ,,", "public,max-age=060",
    ])
    func directivesHaveAnyCaseAndBothFormsOfArguments(directives: String) async throws {
        #expect(try await CacheStage.lifetime(of: .response("1", "Cache-Control: \(directives)"), upTo: 100) == 60)
    }

    @Test func directivesOfAllLinesCount() async throws {
        let stage = CacheStage(
            .private,
            .response("1", "Cache-Control: max-age=60", "Cache-Control: no-store"),
            .response("2")
        )
        _ = try await stage.get()
        #expect(try await stage.get().text == "2")
    }

    // MARK: 5.2.3 Cache control extensions

    @Test(arguments: [
        "new", "new=1", "new=\"no-store\"", "new=\"a, no-store, b\"", "no-stores", "x-no-store", "no_store", "@=1",
        "new=\"a\\\", no-store\"", "pre-check=0, post-check=0",
    ])
    func unknownDirectivesAreIgnored(directive: String) async throws {
        for directives in ["max-age=60, \(directive)", "\(directive), max-age=60"] {
            let answer = FetchFixture.response("1", "Cache-Control: \(directives)")
            #expect(try await CacheStage.lifetime(of: answer, upTo: 100) == 60, "\(directives)")
        }
        #expect(try await CacheStage.reuses(.fresh("1"), second: ["Cache-Control: \(directive)"]))
    }

    @Test func anUnterminatedStringHidesNothing() async throws {
        #expect(try await !CacheStage.reuses(.response("1", "Cache-Control: max-age=60, new=\"a, no-store")))
    }

    // MARK: 5.3 Expires

    @Test(arguments: [
        "0", "-1", "", "soon", "60", "Sun, 06 Nov 1994", "1994-11-06T09:00:00Z", "Sun, 31 Feb 1995 09:00:00 GMT",
    ])
    func anInvalidDateIsInThePast(expires: String) async throws {
        let answer = FetchFixture.response("1", "Expires: \(expires)", "Last-Modified: \(CacheStage.date(-100_000))")
        #expect(try await !CacheStage.reuses(answer))
    }

    @Test(arguments: [(-60, 0), (0, 0), (60, 60), (40_000_000, 200_000)])
    func aResponseIsFreshUntilItExpires(expires: Int, seconds: Int) async throws {
        let answer = FetchFixture.response(
            "1",
            "Date: \(CacheStage.date(0))",
            "Expires: \(CacheStage.date(expires))",
            "ETag: \"a\""
        )
        #expect(try await CacheStage.lifetime(of: answer) == seconds)
    }

    @Test(arguments: [("max-age=60", 60, 60), ("s-maxage=60", 30, 60), ("max-age=x", 0, 0), ("s-maxage=x", 30, 0)])
    func aMaximumAgeTakesPrecedence(directives: String, inPrivate: Int, inShared: Int) async throws {
        let answer = FetchFixture.response(
            "1",
            "Date: \(CacheStage.date(0))",
            "Expires: \(CacheStage.date(30))",
            "Cache-Control: \(directives)",
            "ETag: \"a\""
        )
        #expect(try await CacheStage.lifetime(of: answer, .private, upTo: 100) == inPrivate)
        #expect(try await CacheStage.lifetime(of: answer, .shared, upTo: 100) == inShared)
    }

    @Test func noResponseIsFreshForMoreThanAYearByDefault() async throws {
        let answer = FetchFixture.response(
            "1",
            "Date: \(CacheStage.date(0))",
            "Expires: \(CacheStage.date(40_000_000))"
        )
        #expect(try await CacheStage.lifetime(of: answer, upTo: 40_000_000) == 31_536_000)
        var policy = CachePolicy.private
        policy.maximumLifetime = .seconds(5)
        #expect(try await CacheStage.lifetime(of: .fresh(), policy) == 5)
    }

    // MARK: 5.4 Pragma

    @Test func aRequestWithPragmaIsValidatedUnlessItHasCacheControl() async throws {
        #expect(try await !CacheStage.reuses(.fresh("1"), second: ["Pragma: no-cache"]))
        #expect(try await !CacheStage.reuses(.fresh("1"), second: ["Pragma: x, No-Cache"]))
        #expect(try await CacheStage.reuses(.fresh("1"), second: ["Pragma: x"]))
        #expect(try await CacheStage.reuses(.fresh("1"), second: ["Pragma: no-cache", "Cache-Control: max-age=60"]))
    }

    @Test func pragmaInAResponseMeansNothing() async throws {
        #expect(try await CacheStage.reuses(.fresh("1", "Pragma: no-cache")))
        let answer = FetchFixture.response("1", "Pragma: no-cache", "Last-Modified: \(CacheStage.date(-1_000))")
        #expect(try await CacheStage.reuses(answer))
    }

    // MARK: 5.5 Warning

    @Test func aCacheAddsNoWarnings() async throws {
        let stage = CacheStage(.private, .fresh("1"), .failure(.unreachable))
        _ = try await stage.get()
        stage.advance(1_000)
        #expect(try await stage.get("Cache-Control: max-stale")["Warning"] == nil)
        #expect(try await stage.get()["Warning"] == nil)
    }

    // MARK: 7.1 Cache poisoning

    @Test func aRedirectedResponseIsNotStoredForTheFirstURL() async throws {
        var redirected = DataResponse("1", ["Cache-Control: max-age=60"])
        redirected.url = try CacheStage().request(path: "b").url
        let stage = CacheStage(.shared, .answer(redirected), .fresh("2"), .fresh("3"))
        _ = try await stage.get(path: "a")
        #expect(try await stage.get(path: "a").text == "2")
        #expect(try await stage.get(path: "b").text == "3")
    }

    @Test func theContentLocationDoesNotChooseTheKey() async throws {
        let stage = CacheStage(
            .shared,
            .fresh("1", "Content-Location: /b"),
            .fresh("2"),
            .fresh("3", "Content-Location: /c")
        )
        _ = try await stage.get(path: "a")
        #expect(try await stage.get(path: "b").text == "2")
        _ = try await stage.send(.post, path: "b")
        #expect(stage.cache.count == 1)
    }

    // MARK: 7.2 Timing attacks

    @Test func aPartitionDoesNotRevealWhatAnotherOneHas() async throws {
        let stage = CacheStage(.shared, .fresh("1"), .fresh("2"))
        _ = try await stage.get()
        let other = stage.upstream.caching(in: stage.cache.makePartition(.shared))
        #expect(try await other.fetch(stage.request()).cacheStatus == "Inward; fwd=uri-miss; stored; ttl=60")
    }

    // MARK: 7.3 Caching of sensitive information

    @Test(arguments: CachePolicy.both)
    func cookiesDoNotPreventStoring(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1", "Set-Cookie: a=b", "Set-Cookie: c=d"))
        _ = try await stage.get("Cookie: a=a")
        let copy = try await stage.get("Cookie: a=c")
        #expect(copy.isReused)
        #expect(copy.headerFields.values(of: .setCookie) == ["a=b", "c=d"])
    }
}
