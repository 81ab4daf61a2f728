import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9213: directives for one class of caches.
struct RFC9213Tests {
    /// Returns the lifetimes of a response in a private and in a shared cache.
    private func lifetimes(_ fields: String...) async throws -> [Int] {
        let answer = FetchFixture.answer(DataResponse("1", ["ETag: \"a\""] + fields))
        return [
            try await CacheStage.lifetime(of: answer, .private, upTo: 100),
            try await CacheStage.lifetime(of: answer, .shared, upTo: 100),
        ]
    }

    // MARK: 2.2 Cache behavior

    @Test func sharedCachesObeyTheTargetedFieldOnly() async throws {
        #expect(try await lifetimes("Cache-Control: max-age=60", "CDN-Cache-Control: max-age=30") == [60, 30])
        #expect(try await lifetimes("Cache-Control: no-store", "CDN-Cache-Control: max-age=30") == [0, 30])
        #expect(try await lifetimes("Cache-Control: max-age=60", "CDN-Cache-Control: no-store") == [60, 0])
        // What only requests have means nothing, whatever its value.
        for other in ["max-stale=1.5", "min-fresh=x", "only-if-cached=\"1\""] {
            let targeted = "CDN-Cache-Control: no-store, \(other)"
            #expect(try await lifetimes("Cache-Control: max-age=60", targeted) == [60, 0])
        }
        #expect(try await lifetimes("Cache-Control: s-maxage=60", "CDN-Cache-Control: public") == [0, 0])
    }

    @Test func theTargetedFieldReplacesExpires() async throws {
        let fields = ["Date: \(CacheStage.date(0))", "Expires: \(CacheStage.date(60))"]
        #expect(try await lifetimes(fields[0], fields[1], "CDN-Cache-Control: public") == [60, 0])
        #expect(try await lifetimes(fields[0], fields[1], "CDN-Cache-Control: max-age=30") == [60, 30])
    }

    @Test(arguments: ["", "max-age=30,", "MAX-AGE=30", "max-age=30 no-store", "max-age=\"30", "max-age=30.5", "=1"])
    func anEmptyOrInvalidFieldIsIgnored(value: String) async throws {
        #expect(try await lifetimes("Cache-Control: max-age=60", "CDN-Cache-Control: \(value)") == [60, 60])
    }

    @Test func theFieldCanHaveSeveralLines() async throws {
        let fields = ["CDN-Cache-Control: public", "CDN-Cache-Control: max-age=30"]
        #expect(try await lifetimes("Cache-Control: max-age=60", fields[0], fields[1]) == [60, 30])
    }

    @Test func directivesCanBeTurnedOff() async throws {
        #expect(try await lifetimes("CDN-Cache-Control: max-age=30, no-store=?0") == [0, 30])
        #expect(try await lifetimes("CDN-Cache-Control: max-age=30, no-store=?1") == [0, 0])
        #expect(try await lifetimes("CDN-Cache-Control: max-age=30, no-store;a=b") == [0, 0])
    }

    @Test func unknownDirectivesAndParametersAreIgnored() async throws {
        #expect(try await lifetimes("CDN-Cache-Control: x=(1 2);a, max-age=30;b=c, y=:YQ==:") == [0, 30])
    }

    @Test func theLastOfSeveralValuesCounts() async throws {
        #expect(try await lifetimes("CDN-Cache-Control: max-age=10, max-age=30") == [0, 30])
    }

    @Test func theTargetedFieldDecidesAboutStaleUse() async throws {
        let fields = [
            "Cache-Control: max-age=60, must-revalidate", "CDN-Cache-Control: max-age=60, stale-while-revalidate=60",
        ]
        let answer = FetchFixture.answer(DataResponse("1", fields))
        #expect(try await CacheStage.reuses(answer, .shared, after: 70))
        #expect(try await !CacheStage.reuses(answer, .private, after: 70))
    }

    // MARK: 2.1 Passing on

    @Test func theFieldIsPassedOn() async throws {
        let stage = CacheStage(.shared, .response("1", "CDN-Cache-Control: max-age=30"))
        for _ in 1...2 { #expect(try await stage.get()["CDN-Cache-Control"] == "max-age=30") }
    }
}
