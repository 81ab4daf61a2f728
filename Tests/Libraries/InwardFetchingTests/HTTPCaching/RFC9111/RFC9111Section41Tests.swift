import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 section 4.1: which variant a request selects.
struct RFC9111Section41Tests {
    // MARK: 4.1 Calculating cache keys with Vary

    @Test(arguments: CachePolicy.both)
    func responsesAreReusedOnlyIfTheSelectingFieldsMatch(policy: CachePolicy) async throws {
        let answer = FetchFixture.fresh("1", "Vary: Accept, X-A")
        let first = ["Accept: a", "X-A: 1", "X-Other: 1"]
        #expect(try await CacheStage.reuses(answer, policy, first: first, second: ["X-A: 1", "Accept: a"]))
        for second in [["Accept: a"], ["X-A: 1"], ["Accept: a", "X-A: 2"], ["Accept: b", "X-A: 1"], []] {
            #expect(try await !CacheStage.reuses(answer, policy, first: first, second: second), "\(second)")
        }
    }

    @Test func namesInVaryHaveAnyCaseAndAnyNumberOfLines() async throws {
        let answer = FetchFixture.fresh("1", "Vary: aCCEPT", "vary: , x-a ,")
        #expect(try await CacheStage.reuses(answer, first: ["Accept: a", "X-A: 1"], second: ["accept: a", "x-a: 1"]))
        #expect(try await !CacheStage.reuses(answer, first: ["Accept: a", "X-A: 1"], second: ["Accept: a", "X-A: 2"]))
        #expect(try await !CacheStage.reuses(answer, first: ["Accept: a", "X-A: 1"], second: ["Accept: b", "X-A: 1"]))
    }

    @Test func whiteSpaceInListsMakesNoDifference() async throws {
        let answer = FetchFixture.fresh("1", "Vary: X-A")
        #expect(try await CacheStage.reuses(answer, first: ["X-A: 1, 2"], second: ["X-A:   1  ,\t2  "]))
        #expect(try await !CacheStage.reuses(answer, first: ["X-A: 1, 2"], second: ["X-A: 1 2"]))
    }

    @Test func linesOfOneFieldAreCombined() async throws {
        let answer = FetchFixture.fresh("1", "Vary: X-A")
        #expect(try await CacheStage.reuses(answer, first: ["X-A: 1, 2"], second: ["X-A: 1", "X-A: 2"]))
        #expect(try await !CacheStage.reuses(answer, first: ["X-A: 1, 2"], second: ["X-A: 2", "X-A: 1"]))
    }

    @Test(arguments: ["Accept-Encoding", "Accept-Charset"])
    func preferencesOfTheSameMeaningMatch(name: String) async throws {
        let answer = FetchFixture.fresh("1", "Vary: \(name)")
        let first = ["\(name): a, b;q=0.5"]
        #expect(try await CacheStage.reuses(answer, first: first, second: ["\(name): B; q=0.5, A"]))
        #expect(try await !CacheStage.reuses(answer, first: first, second: ["\(name): a;q=0.5, b"]))
    }

    @Test func valuesWithoutKnownNormalizationAreCompared() async throws {
        let answer = FetchFixture.fresh("1", "Vary: X-A")
        #expect(try await !CacheStage.reuses(answer, first: ["X-A: a"], second: ["X-A: A"]))
        #expect(try await !CacheStage.reuses(answer, first: ["X-A: a, b"], second: ["X-A: b, a"]))
        #expect(try await !CacheStage.reuses(answer, first: ["X-A: \"a, b\""], second: ["X-A: \"a,b\""]))
    }

    @Test func anAbsentFieldMatchesOnlyAnAbsentOne() async throws {
        let answer = FetchFixture.fresh("1", "Vary: X-A")
        #expect(try await CacheStage.reuses(answer))
        #expect(try await !CacheStage.reuses(answer, second: ["X-A: "]))
        #expect(try await !CacheStage.reuses(answer, second: ["X-A: 1"]))
        #expect(try await !CacheStage.reuses(answer, first: ["X-A: 1"]))
        #expect(try await !CacheStage.reuses(answer, first: ["X-A: "]))
    }

    @Test(arguments: CachePolicy.both, ["*", "Accept, *", "*, Accept", "Accept, @"])
    func aStarNeverMatches(policy: CachePolicy, vary: String) async throws {
        #expect(try await !CacheStage.reuses(.fresh("1", "Vary: \(vary)", "ETag: \"a\""), policy))
        #expect(try await CacheStage.reuses(.fresh("1", "Vary: Accept", "ETag: \"a\""), policy))
    }

    @Test func theMostRecentVaryFieldSelectsAlsoAmongResponsesWithoutOne() async throws {
        let stage = CacheStage(
            .private,
            .fresh("en", "Vary: Accept-Language"),
            .fresh("default", "Date: \(CacheStage.date(10))"),
            .fresh("fr", "Vary: Accept-Language")
        )
        #expect(try await stage.get("Accept-Language: en").text == "en")
        stage.advance(10)
        #expect(try await stage.get("Accept-Language: de").text == "default")
        #expect(try await stage.get("Accept-Language: de").text == "default")
        #expect(try await stage.get("Accept-Language: en").text == "en")
        #expect(try await stage.get("Accept-Language: fr").text == "fr")
    }

    @Test func aConfirmedResponseWithoutVaryKeepsItsVariant() async throws {
        let stage = CacheStage(
            .private,
            .fresh("en", "Vary: Accept-Language"),
            .fresh("default", "ETag: \"a\""),
            .notModified("ETag: \"a\"")
        )
        #expect(try await stage.get("Accept-Language: en").text == "en")
        #expect(try await stage.get("Accept-Language: de").text == "default")
        stage.advance(60)
        for _ in 1...2 { #expect(try await stage.get("Accept-Language: de").text == "default") }
        #expect(stage.requests.count == 3)
    }

    @Test func aRequestWithoutASelectedResponseIsForwarded() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept", "ETag: \"a\""),
            .fresh("2", "Vary: Accept", "ETag: \"b\""),
            .fresh("3", "Vary: Accept", "ETag: \"c\"")
        )
        for number in 1...3 { #expect(try await stage.get("Accept: \(number)").text == "\(number)") }
        #expect(stage.requests[1].headerFields[.ifNoneMatch] == "\"a\"")
        #expect(stage.requests[2].headerFields[.ifNoneMatch] == "\"a\", \"b\"")
        #expect(stage.requests[2].headerFields[.accept] == "3")
    }

    @Test func theUpstreamCanSelectAStoredResponse() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept", "ETag: \"a\""),
            .fresh("2", "Vary: Accept", "ETag: \"b\""),
            .notModified("Vary: Accept", "ETag: \"a\"", "Cache-Control: max-age=60")
        )
        for number in 1...2 { _ = try await stage.get("Accept: \(number)") }
        let confirmed = try await stage.get("Accept: 3")
        #expect(confirmed.status == .ok)
        #expect(confirmed.text == "1")
        #expect(confirmed.cacheStatus == "Inward; fwd=vary-miss; fwd-status=304; stored; ttl=60")
        for (accepted, text) in [(1, "1"), (2, "2"), (3, "1")] {
            let copy = try await stage.get("Accept: \(accepted)")
            #expect(copy.isReused)
            #expect(copy.text == text)
        }
    }
}
