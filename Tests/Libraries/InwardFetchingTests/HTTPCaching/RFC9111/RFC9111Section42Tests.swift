import InwardTesting
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// RFC 9111 sections 4.2 to 4.2.2: how long a response is fresh.
struct RFC9111Section42Tests {
    private let date = "Date: \(CacheStage.date(0))"

    // MARK: 4.2 Freshness

    @Test(arguments: CachePolicy.both)
    func aResponseIsFreshUntilItsAgeReachesItsLifetime(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1"), .fresh("2"))
        _ = try await stage.get()
        stage.advance(59)
        stage.clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(try await stage.get().text == "1")
        stage.clock.advance(by: .nanoseconds(1))
        #expect(try await stage.get().text == "2")
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:01:00 GMT", "sun, 06 nov 1994 08:01:00 gmt", "SUN, 06 NOV 1994 08:01:00 GMT",
    ])
    func datesAreReadInAnyCase(expires: String) async throws {
        #expect(try await CacheStage.lifetime(of: .response("1", date, "Expires: \(expires)")) == 60)
    }

    @Test(arguments: ["Sunday, 06-Nov-94 08:01:00 GMT", "Sun Nov  6 08:01:00 1994"])
    func obsoleteDatesAreRead(expires: String) async throws {
        #expect(try await CacheStage.lifetime(of: .response("1", date, "Expires: \(expires)")) == 60)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:01:00 UTC", "Sun, 06 Nov 1994 08:01:00 EST", "Sun, 06 Nov 1994 08:01:00 +0100",
        "Sun, 06 Nov 1994 08:01:00",
    ])
    func datesInOtherTimeZonesAreInvalid(expires: String) async throws {
        #expect(try await CacheStage.lifetime(of: .response("1", date, "Expires: \(expires)", "ETag: \"a\"")) == 0)
    }

    // MARK: 4.2.1 Calculating freshness lifetime

    @Test(arguments: [
        ("max-age=60, s-maxage=30", 60, 30), ("s-maxage=90, max-age=60", 60, 90), ("s-maxage=30", 45, 30),
        ("max-age=60", 60, 60), ("public", 45, 45),
    ])
    func theFirstOfSharedMaxAgeMaxAgeAndExpiresCounts(directives: String, inPrivate: Int, inShared: Int) async throws {
        let answer = FetchFixture.response(
            "1",
            date,
            "Cache-Control: \(directives)",
            "Expires: \(CacheStage.date(45))",
            "Last-Modified: \(CacheStage.date(-10_000))"
        )
        #expect(try await CacheStage.lifetime(of: answer, .private) == inPrivate)
        #expect(try await CacheStage.lifetime(of: answer, .shared) == inShared)
    }

    @Test func expiresCountsFromTheDateOfTheUpstream() async throws {
        // The clock of the upstream is an hour ahead.
        let answer = FetchFixture.response(
            "1",
            "Date: \(CacheStage.date(3_600))",
            "Expires: \(CacheStage.date(3_660))"
        )
        #expect(try await CacheStage.lifetime(of: answer) == 60)
    }

    @Test(arguments: ["X: 1", "Date: yesterday"])
    func expiresCountsFromTheArrivalWithoutADate(field: String) async throws {
        #expect(try await CacheStage.lifetime(of: .response("1", field, "Expires: \(CacheStage.date(45))")) == 45)
    }

    @Test(arguments: [
        ("max-age=60, max-age=60", 60), ("max-age=60, max-age=90", 0), ("max-age=90, max-age=60", 0),
        ("max-age=60, max-age=90, max-age=60", 0), ("max-age=60, max-age=90, max-age=90", 0),
    ])
    func differentLifetimesMakeAResponseStale(directives: String, seconds: Int) async throws {
        let answer = FetchFixture.response("1", "Cache-Control: \(directives)", "ETag: \"a\"")
        #expect(try await CacheStage.lifetime(of: answer) == seconds)
    }

    @Test(arguments: [(30, 30, 30), (30, 60, 0), (60, 30, 0)])
    func differentExpiresFieldsMakeAResponseStale(first: Int, second: Int, seconds: Int) async throws {
        let answer = FetchFixture.response(
            "1",
            date,
            "Expires: \(CacheStage.date(first))",
            "Expires: \(CacheStage.date(second))",
            "ETag: \"a\""
        )
        #expect(try await CacheStage.lifetime(of: answer) == seconds)
    }

    @Test(arguments: [
        "max-age=60, no-cache", "no-cache, max-age=60", "max-age=60, no-store", "max-age=60, no-cache=\"?\"",
    ])
    func theMostRestrictiveOfConflictingDirectivesCounts(directives: String) async throws {
        #expect(try await !CacheStage.reuses(.response("1", "Cache-Control: \(directives)", "ETag: \"a\"")))
    }

    @Test(arguments: [
        "max-age", "max-age=", "max-age=a", "max-age=1.5", "max-age=-1", "max-age=+1", "max-age=1 0", "max-age=0x10",
        "max-age=\"\"", "max-age='60'", "max-age=60;", "max-age=60, max-age=a", "max-age=a, max-age=60",
    ])
    func invalidLifetimesMakeAResponseStale(directives: String) async throws {
        // The other fields would make it fresh.
        let answer = FetchFixture.response(
            "1",
            date,
            "Cache-Control: \(directives)",
            "Expires: \(CacheStage.date(45))",
            "Last-Modified: \(CacheStage.date(-10_000))"
        )
        #expect(try await !CacheStage.reuses(answer))
    }

    @Test func spaceAroundTheEqualsSignIsNotALifetime() async throws {
        for directives in ["max-age =60", "max-age= 60"] {
            let answer = FetchFixture.response("1", "Cache-Control: \(directives)", "ETag: \"a\"")
            #expect(try await !CacheStage.reuses(answer), "\(directives)")
        }
    }

    // MARK: 4.2.2 Calculating heuristic freshness

    @Test(arguments: CachePolicy.both, [(-1_000, 100), (-10, 1), (-9, 0), (-10_000_000, 86_400), (0, 0), (100, 0)])
    func responsesWithoutALifetimeAreFreshForATenthOfTheTimeSinceTheirChange(
        policy: CachePolicy,
        expected: (modified: Int, seconds: Int)
    ) async throws {
        let answer = FetchFixture.response("1", date, "Last-Modified: \(CacheStage.date(expected.modified))")
        #expect(try await CacheStage.lifetime(of: answer, policy) == expected.seconds)
    }

    @Test func theEstimateHasAFractionAndALimit() async throws {
        let answer = FetchFixture.response("1", date, "Last-Modified: \(CacheStage.date(-1_000))")
        var policy = CachePolicy.private
        policy.heuristicFraction = 0.5
        #expect(try await CacheStage.lifetime(of: answer, policy) == 500)
        policy.heuristicLimit = .seconds(300)
        #expect(try await CacheStage.lifetime(of: answer, policy) == 300)
        policy.heuristicFraction = 0
        #expect(try await CacheStage.lifetime(of: answer, policy) == 0)
    }

    @Test(arguments: [
        "Cache-Control: max-age=0", "Cache-Control: max-age=5", "Expires: 0", "Expires: \(CacheStage.date(5))",
    ])
    func explicitLifetimesAreNotEstimated(field: String) async throws {
        let answer = FetchFixture.response("1", date, field, "Last-Modified: \(CacheStage.date(-100_000))")
        #expect(try await CacheStage.lifetime(of: answer) == (field.hasSuffix("0") ? 0 : 5))
    }

    @Test(arguments: [
        (200, "", true), (404, "", true), (301, "", true), (302, "", false), (302, "public", true), (299, "", false),
        (299, "public", true), (302, "private", false), (500, "", false),
    ])
    func onlyCertainStatusesOrPublicResponsesHaveAnEstimate(code: Int, directives: String, isFresh: Bool) async throws {
        let answer = FetchFixture.response(
            "1",
            status: DataResponse.Status(code),
            date,
            "Cache-Control: \(directives)",
            "Last-Modified: \(CacheStage.date(-1_000))"
        )
        #expect(try await CacheStage.lifetime(of: answer) == (isFresh ? 100 : 0))
    }

    @Test func responsesWithAQueryHaveAnEstimateToo() async throws {
        let stage = CacheStage(.private, .response("1", date, "Last-Modified: \(CacheStage.date(-1_000))"))
        _ = try await stage.get(path: "a?b=c")
        #expect(try await stage.get(path: "a?b=c").isReused)
    }
}
