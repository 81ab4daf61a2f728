import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 sections 4.3.3 to 4.3.5: responses to validation requests and to HEAD.
struct RFC9111Section433Tests {
    private static let tag = "ETag: \"a\""

    // MARK: 4.3.3 Handling a validation response

    @Test(arguments: CachePolicy.both)
    func aNotModifiedResponseMakesTheStoredOneFreshAgain(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1", Self.tag), .notModified(Self.tag, "Cache-Control: max-age=90"))
        _ = try await stage.get()
        stage.advance(60)
        let answer = try await stage.get()
        #expect(answer.status == .ok)
        #expect(answer.text == "1")
        stage.advance(89)
        #expect(try await stage.get().isReused)
        #expect(stage.requests.count == 2)
    }

    @Test(arguments: [200, 404, 301])
    func aFullResponseReplacesTheStoredOne(code: Int) async throws {
        let status = DataResponse.Status(code)
        let stage = CacheStage(.private, .fresh("1", Self.tag), .fresh("2", status: status, Self.tag))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "2")
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy.text == "2")
        #expect(copy.status == status)
        #expect(stage.cache.count == 1)
    }

    @Test(arguments: [200, 404, 410])
    func aFullResponseThatIsNotStoredRemovesTheStoredOne(code: Int) async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", Self.tag),
            .response("2", status: DataResponse.Status(code), "Cache-Control: no-store"),
            .fresh("3")
        )
        _ = try await stage.get()
        #expect(try await stage.get("Cache-Control: no-cache").text == "2")
        #expect(try await stage.get().text == "3")
    }

    @Test(arguments: [500, 502, 503, 504, 599])
    func serverErrorsAreForwardedAndKeepTheStoredResponse(code: Int) async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", Self.tag),
            .response("2", status: DataResponse.Status(code)),
            .notModified(Self.tag)
        )
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "2")
        #expect(try await stage.get().text == "1")
    }

    // MARK: 4.3.4 Freshening stored responses upon validation

    @Test(arguments: ["ETag: \"b\"", "ETag: W/\"b\"", "Last-Modified: \(CacheStage.date(-1))"])
    func aNotModifiedResponseForAnotherVersionUpdatesNothing(validator: String) async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", Self.tag, "X: old"),
            .notModified(validator, "X: new"),
            .fresh("2", "ETag: \"b\"")
        )
        _ = try await stage.get()
        stage.advance(60)
        // The cache asks again without conditions.
        let answer = try await stage.get()
        #expect(answer.text == "2")
        #expect(answer["X"] == nil)
        #expect(stage.requests.last == (try stage.request()))
    }

    @Test func aStrongTagDoesNotConfirmAWeakOne() async throws {
        let stage = CacheStage(.private, .fresh("1", "ETag: W/\"a\""), .notModified("ETag: \"a\""), .fresh("2"))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "2")
    }

    @Test(arguments: [
        ("ETag: W/\"a\"", "ETag: W/\"a\""), ("ETag: \"a\"", "ETag: W/\"a\""),
        ("Last-Modified: \(CacheStage.date(-100))", "Last-Modified: \(CacheStage.date(-100))"),
    ])
    func aWeakValidatorConfirmsTheResponseThatHasIt(stored: String, confirming: String) async throws {
        let stage = CacheStage(.private, .fresh("1", stored), .notModified(confirming, "X: new"))
        _ = try await stage.get()
        stage.advance(60)
        let answer = try await stage.get()
        #expect(answer.text == "1")
        #expect(answer["X"] == "new")
        #expect(try await stage.get().isReused)
    }

    @Test func aStrongTagConfirmsTheVariantThatHasIt() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept", "ETag: \"a\""),
            .fresh("2", "Vary: Accept", "ETag: \"b\""),
            .notModified("Vary: Accept", "ETag: \"b\"")
        )
        for number in 1...2 { _ = try await stage.get("Accept: \(number)") }
        #expect(try await stage.get("Accept: 3").text == "2")
    }

    @Test func aWeakTagConfirmsTheMostRecentResponseThatHasIt() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept", "ETag: \"a\""),
            .fresh("2", "Vary: Accept", "ETag: \"a\"", "Date: \(CacheStage.date(10))"),
            .notModified("Vary: Accept", "ETag: W/\"a\"")
        )
        _ = try await stage.get("Accept: 1")
        stage.advance(10)
        _ = try await stage.get("Accept: 2")
        #expect(try await stage.get("Accept: 3").text == "2")
    }

    @Test func aNotModifiedResponseWithoutValidatorsConfirmsTheOnlyOne() async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag), .notModified("X: new"))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get()["X"] == "new")
        #expect(try await stage.get().isReused)
    }

    /// It is about the caller's copy. If nothing has changed since a date before that of the stored response, it is about both.
    @Test(arguments: [(0, true), (-60, true), (1, false)])
    func aNotModifiedResponseToTheCallersConditionUpdatesAResponseThatIsLater(date: Int, isUpdated: Bool) async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "X: old"),
            .notModified("X: new", "Cache-Control: max-age=60"),
            .fresh("2")
        )
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get("If-Modified-Since: \(CacheStage.date(date))").status == .notModified)
        let copy = try await stage.get()
        #expect(copy.text == (isUpdated ? "1" : "2"))
        #expect(copy["X"] == (isUpdated ? "new" : nil))
    }

    @Test func aNotModifiedResponseWithoutValidatorsUpdatesNoneOfSeveral() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept", "ETag: \"a\""),
            .fresh("2", "Vary: Accept", "ETag: \"b\""),
            .notModified("Vary: Accept"),
            .fresh("3")
        )
        for number in 1...3 { #expect(try await stage.get("Accept: \(number)").text == "\(number)") }
    }

    @Test(arguments: CachePolicy.both)
    func aConfirmedResponseThatMustNotBeStoredAnyLongerIsRemoved(policy: CachePolicy) async throws {
        let stage = CacheStage(
            policy,
            .fresh("1", Self.tag),
            .notModified(Self.tag, "Cache-Control: no-store", "X: new"),
            .fresh("2")
        )
        _ = try await stage.get()
        stage.advance(60)
        let answer = try await stage.get()
        #expect(answer.text == "1")
        #expect(answer["X"] == "new")
        // Another cache must not store it either.
        #expect(answer.headerFields[.cacheControl] == "no-store")
        #expect(stage.cache.count == 0)
        #expect(try await stage.get().text == "2")
    }

    // MARK: 4.3.5 Freshening responses with HEAD

    @Test(arguments: [
        tag, "Last-Modified: \(CacheStage.date(-100))", "Content-Length: 1", "X: 1",
    ])
    func aHeadResponseThatMatchesUpdatesTheStoredOne(field: String) async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", Self.tag, "Last-Modified: \(CacheStage.date(-100))", "Content-Length: 1", "X-Old: 1"),
            .fresh("", field, "X-Old: 2", "X-New: 3")
        )
        _ = try await stage.get()
        stage.advance(60)
        let head = try await stage.send(.head)
        #expect(!head.isReused)
        #expect(head["X-New"] == "3")
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy.text == "1")
        #expect(copy["X-Old"] == "2")
        #expect(copy["X-New"] == "3")
        #expect(copy.headerFields[.age] == "0")
    }

    @Test(arguments: [
        (200, "ETag: \"b\""), (200, "ETag: W/\"a\""), (200, "Last-Modified: \(CacheStage.date(-99))"),
        (200, "Content-Length: 2"), (404, "X: 1"), (410, tag),
    ])
    func aHeadResponseThatDiffersMakesTheStoredOneUnusable(code: Int, field: String) async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", Self.tag, "Last-Modified: \(CacheStage.date(-100))", "Content-Length: 1"),
            .fresh("", status: DataResponse.Status(code), field),
            .fresh("2")
        )
        _ = try await stage.get()
        _ = try await stage.send(.head, "Cache-Control: no-cache")
        #expect(try await stage.get().text == "2")
    }

    @Test func aFailedHeadRequestKeepsTheStoredResponse() async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag), .response("", status: 503))
        _ = try await stage.get()
        #expect(try await stage.send(.head, "Cache-Control: no-cache").status == 503)
        #expect(try await stage.get().text == "1")
    }

    @Test func aHeadResponseKeepsOtherVariants() async throws {
        let stage = CacheStage(
            .private,
            .fresh("1", "Vary: Accept", "ETag: \"a\""),
            .fresh("2", "Vary: Accept", "ETag: \"b\""),
            .fresh("", "Vary: Accept", "ETag: \"c\"")
        )
        for number in 1...2 { _ = try await stage.get("Accept: \(number)") }
        _ = try await stage.send(.head, "Accept: 2", "Cache-Control: no-cache")
        #expect(stage.cache.count == 1)
        #expect(try await stage.get("Accept: 1").text == "1")
    }
}
