import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 sections 4.3.1 and 4.3.2: validation requests that a cache sends and receives.
struct RFC9111Section43Tests {
    private static let tag = "ETag: \"a\""
    private static let modified = "Last-Modified: \(CacheStage.date(-100))"

    // MARK: 4.3.1 Sending a validation request

    @Test(arguments: CachePolicy.both)
    func validationAsksForAnythingButTheStoredResponse(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1", Self.tag, Self.modified, "Vary: Accept"), .notModified(Self.tag))
        let fields = ["Accept: a", "Accept-Language: en", "Cache-Control: max-age=9"]
        _ = try await stage.send(.get, path: "a?b", fields)
        stage.advance(60)
        _ = try await stage.send(.get, path: "a?b", fields)
        let validation = try #require(stage.requests.last)
        #expect(validation.headerFields[.ifNoneMatch] == "\"a\"")
        #expect(validation.headerFields[.ifModifiedSince] == CacheStage.date(-100))
        let request = try stage.request(.get, path: "a?b", fields)
        #expect(validation.url == request.url)
        #expect(validation.method == .get)
        #expect(request.headerFields.allSatisfy(validation.headerFields.contains))
    }

    @Test func validationUsesTheValidatorsThatThereAre() async throws {
        for (field, tag, date) in [
            (Self.tag, "\"a\"", nil), ("ETag: W/\"a\"", "W/\"a\"", nil), (Self.modified, nil, CacheStage.date(-100)),
            ("X: 1", nil, nil),
        ] {
            let stage = CacheStage(.private, .fresh("1", field), .fresh("2"))
            _ = try await stage.get()
            stage.advance(60)
            #expect(try await stage.get().text == "2")
            #expect(stage.requests[1].headerFields[.ifNoneMatch] == tag)
            #expect(stage.requests[1].headerFields[.ifModifiedSince] == date)
        }
    }

    // MARK: 4.3.2 Handling a received validation request

    @Test(arguments: [
        ("\"a\"", 304), ("\"b\"", 200), ("\"b\", \"a\"", 304), ("W/\"a\"", 304), ("*", 304), ("a", 200), ("\"A\"", 200),
        ("\"b, a\"", 200), ("\"b\" , ,W/\"a\"", 304),
    ])
    func ifNoneMatchIsComparedWithTheStoredTag(tags: String, code: Int) async throws {
        for policy in CachePolicy.both {
            let stage = CacheStage(policy, .fresh("1", Self.tag, "X: 1"))
            _ = try await stage.get()
            stage.advance(5)
            let answer = try await stage.get("If-None-Match: \(tags)")
            #expect(answer.isReused)
            #expect(answer.status.code == code)
            #expect(answer.text == (code == 304 ? "" : "1"))
            #expect(answer.headerFields[.etag] == "\"a\"")
            #expect(answer.headerFields[.age] == "5")
            #expect(answer.headerFields[.cacheControl] == "max-age=60")
        }
    }

    @Test(arguments: [(-101, 200), (-100, 304), (0, 304)])
    func ifModifiedSinceIsComparedWithTheStoredDate(seconds: Int, code: Int) async throws {
        let stage = CacheStage(.private, .fresh("1", Self.modified, "Date: \(CacheStage.date(0))"))
        _ = try await stage.get()
        let answer = try await stage.get("If-Modified-Since: \(CacheStage.date(seconds))")
        #expect(answer.isReused)
        #expect(answer.status.code == code)
    }

    @Test(arguments: ["Date: \(CacheStage.date(-20))", "X: 1"], [(-21, -1), (-20, 0)])
    func ifModifiedSinceIsComparedWithTheDateOfAResponseWithoutLastModified(
        field: String,
        offsets: (dated: Int, undated: Int)
    ) async throws {
        // Without a date, the arrival counts.
        let seconds = field == "X: 1" ? offsets.undated : offsets.dated
        let stage = CacheStage(.private, .fresh("1", field))
        _ = try await stage.get()
        let answer = try await stage.get("If-Modified-Since: \(CacheStage.date(seconds))")
        #expect(answer.isReused)
        #expect(answer.status.code == (offsets.undated == 0 ? 304 : 200))
    }

    @Test func ifNoneMatchTakesPrecedence() async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag, Self.modified))
        _ = try await stage.get()
        let since = ["If-Modified-Since: \(CacheStage.date(0))", "If-Modified-Since: \(CacheStage.date(-1_000))"]
        #expect(try await stage.get("If-None-Match: \"b\"", since[0]).status == .ok)
        #expect(try await stage.get("If-None-Match: \"a\"", since[1]).status == .notModified)
    }

    @Test(arguments: ["If-None-Match: \"a\"", "If-Modified-Since: \(CacheStage.date(0))", "If-Match: \"b\""])
    func conditionsAreForwardedIfNothingIsStored(field: String) async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag))
        let answer = try await stage.get(field)
        #expect(answer.status == .ok)
        #expect(answer.text == "1")
        #expect(stage.requests == [try stage.request(.get, [field])])
    }

    @Test(arguments: ["If-Match: \"b\"", "If-Unmodified-Since: \(CacheStage.date(-1_000))"])
    func conditionsForTheOriginServerAreForwarded(field: String) async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag, Self.modified), .response("2", status: 412))
        _ = try await stage.get()
        let answer = try await stage.get(field)
        #expect(answer.status == 412)
        #expect(stage.requests.last == (try stage.request(.get, [field])))
        #expect(try await stage.get().text == "1")
    }

    @Test(arguments: ["If-None-Match: \"a\"", "If-Modified-Since: \(CacheStage.date(0))"])
    func conditionsOfOtherMethodsAreForwarded(field: String) async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag, Self.modified), .response("2", status: 412))
        _ = try await stage.get()
        #expect(try await stage.send(.put, field).text == "2")
        #expect(stage.requests.last == (try stage.request(.put, [field])))
    }

    @Test(arguments: [("\"b\"", 200), ("\"a\"", 304)])
    func aConfirmedResponseIsComparedWithTheConditionsOfTheCaller(tag: String, code: Int) async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag), .notModified(Self.tag, "X: new"))
        _ = try await stage.get()
        stage.advance(60)
        let answer = try await stage.get("If-None-Match: \(tag)")
        #expect(stage.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
        #expect(answer.status.code == code)
        #expect(answer.text == (code == 200 ? "1" : ""))
        #expect(answer["X"] == (code == 200 ? "new" : nil))
    }

    @Test(arguments: [("\"b\"", 304), ("\"a\"", 200)])
    func aNewResponseIsComparedWithTheConditionsOfTheCaller(tag: String, code: Int) async throws {
        let stage = CacheStage(.private, .fresh("1", Self.tag), .fresh("2", "ETag: \"b\""))
        _ = try await stage.get()
        stage.advance(60)
        let answer = try await stage.get("If-None-Match: \(tag)")
        #expect(answer.status.code == code)
        #expect(answer.text == (code == 200 ? "2" : ""))
    }

    @Test func theTagOfAPartIsNotSentForTheWhole() async throws {
        let stage = CacheStage(
            .private,
            .fresh("01", status: .partialContent, "Content-Range: bytes 0-1/4", Self.tag),
            .fresh("0123", Self.tag)
        )
        _ = try await stage.get("Range: bytes=0-1")
        #expect(try await stage.get().text == "0123")
        #expect(stage.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    @Test func theTagOfAPartIsNotSentForAnotherVariant() async throws {
        let stage = CacheStage(
            .private,
            .fresh("01", status: .partialContent, "Content-Range: bytes 0-1/4", Self.tag, "Vary: Accept"),
            .fresh("0123", "ETag: \"b\"")
        )
        _ = try await stage.get("Range: bytes=0-1", "Accept: a")
        _ = try await stage.get("Accept: b")
        #expect(stage.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    @Test(arguments: [
        (tag, "\"a\"", 206), (tag, "\"b\"", 200), ("ETag: W/\"a\"", "W/\"a\"", 200), (tag, "W/\"a\"", 200),
        (modified, CacheStage.date(-100), 206), (modified, CacheStage.date(-99), 200),
        (modified, CacheStage.date(-101), 200),
    ])
    func ifRangeIsComparedExactly(stored: String, condition: String, code: Int) async throws {
        let stage = CacheStage(.private, .fresh("0123", stored))
        _ = try await stage.get()
        let answer = try await stage.get("Range: bytes=1-2", "If-Range: \(condition)")
        #expect(answer.isReused)
        #expect(answer.status.code == code)
        #expect(answer.text == (code == 206 ? "12" : "0123"))
    }
}
