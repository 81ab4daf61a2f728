import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 sections 3.1, 3.2 and 3.5: the fields that a cache stores, and responses to authorized requests.
struct RFC9111Section31Tests {
    // MARK: 3.1 Storing header and trailer fields

    @Test(arguments: CachePolicy.both)
    func allFieldsAreStoredEvenUnknownOnes(policy: CachePolicy) async throws {
        let stage = CacheStage(
            policy,
            .fresh("1", "X-New: 1", "X-New: 2", "Content-Type: text/plain", "Warning: 110 -")
        )
        _ = try await stage.get()
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy["X-New"] == "1, 2")
        #expect(copy["Content-Type"] == "text/plain")
        #expect(copy["Warning"] == "110 -")
    }

    @Test func fieldsOfTheConnectionAreNotStored() async throws {
        let names = ["X-Hop", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Connection"]
        var fixture = DataResponse(headerFields: HeaderFields(lines: names.map { "\($0): x" }))
        fixture.headerFields[.cacheControl] = "max-age=60"
        fixture.headerFields.append(HeaderField(.connection, "close\", x-hop"))
        let stage = CacheStage(.private, .answer(fixture))
        _ = try await stage.get()
        let copy = try await stage.get()
        #expect(copy.isReused)
        for name in names + ["Connection"] { #expect(copy[name] == nil, "\(name)") }
    }

    @Test(arguments: ["Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization"])
    func fieldsOfTheProxyAreNotStored(name: String) async throws {
        let stage = CacheStage(.private, .fresh("1", "\(name): Basic"))
        _ = try await stage.get()
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy[name] == nil)
    }

    @Test func directivesCanKeepFieldsFromBeingStored() async throws {
        let answer = FetchFixture.response(
            "1",
            "Cache-Control: max-age=60, no-cache=\"x-a\", private=\"x-b, x-c\"",
            "X-A: 1",
            "X-B: 1",
            "X-C: 1",
            "X-D: 1"
        )
        for (policy, names) in [(CachePolicy.private, ["X-B", "X-C", "X-D"]), (.shared, ["X-D"])] {
            let stage = CacheStage(policy, answer)
            #expect(try await stage.get()["X-A"] == "1")
            let copy = try await stage.get()
            #expect(copy.isReused)
            #expect(["X-A", "X-B", "X-C", "X-D"].filter { copy[$0] != nil } == names)
        }
    }

    // MARK: 3.2 Updating stored header fields

    /// Returns the response that a cache reuses after a 304 has updated a stored response.
    private func updated(_ stored: [String], by news: [String], _ policy: CachePolicy = .private) async throws
        -> DataResponse
    {
        let stage = CacheStage(
            policy,
            .answer(DataResponse("1", ["ETag: \"a\""] + stored)),
            .answer(DataResponse(status: .notModified, ["ETag: \"a\""] + news))
        )
        _ = try await stage.get()
        let answer = try await stage.get()
        #expect(answer.text == "1")
        #expect(answer.status == .ok)
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy.text == "1")
        return copy
    }

    private static let stale = "Cache-Control: max-age=0"
    private static let renewed = "Cache-Control: max-age=60"

    @Test(arguments: CachePolicy.both)
    func updatesAddAndReplaceFields(policy: CachePolicy) async throws {
        let copy = try await updated(
            [Self.stale, "X-Kept: 1", "X-Old: 1", "X-Old: 2"],
            by: [Self.renewed, "X-Old: 3", "X-New: 4"],
            policy
        )
        #expect(copy["X-Kept"] == "1")
        #expect(copy["X-Old"] == "3")
        #expect(copy["X-New"] == "4")
        #expect(copy.headerFields[.cacheControl] == "max-age=60")
    }

    @Test(arguments: ["Content-Length", "Content-Encoding", "Content-Range"])
    func updatesKeepTheFieldsOfTheStoredBody(name: String) async throws {
        let copy = try await updated([Self.stale, "\(name): 1"], by: [Self.renewed, "\(name): 2"])
        #expect(copy[name] == "1")
    }

    @Test func updatesReplaceTheContentType() async throws {
        let copy = try await updated(
            [Self.stale, "Content-Type: text/plain"],
            by: [Self.renewed, "Content-Type: text/plain; charset=utf-8"]
        )
        #expect(copy["Content-Type"] == "text/plain; charset=utf-8")
    }

    @Test func updatesDoNotAddFieldsThatAreNotStored() async throws {
        let copy = try await updated(
            [Self.stale],
            by: [
                "Cache-Control: max-age=60, no-cache=\"x-named\"", "X-Named: 1", "Connection: x-hop", "X-Hop: 1",
                "Proxy-Authenticate: Basic", "X-Other: 1",
            ]
        )
        for name in ["X-Named", "X-Hop", "Connection", "Proxy-Authenticate"] { #expect(copy[name] == nil, "\(name)") }
        #expect(copy["X-Other"] == "1")
    }

    @Test func storedDirectivesStillKeepFieldsOutOfUpdates() async throws {
        let copy = try await updated(
            ["Cache-Control: max-age=60, no-cache=\"x-named\"", "Age: 60", "X-Named: 1"],
            by: ["X-Named: 2", "X-Other: 2", "Date: \(CacheStage.date(0))"]
        )
        #expect(copy["X-Named"] == nil)
        #expect(copy["X-Other"] == "2")
    }

    // MARK: 3.5 Storing responses to authenticated requests

    @Test(arguments: [
        ("max-age=60", false), ("private, max-age=60", false), ("proxy-revalidate, max-age=60", false),
        ("public, max-age=60", true), ("must-revalidate, max-age=60", true), ("s-maxage=60", true),
    ])
    func sharedCachesReuseResponsesToAuthorizedRequestsIfADirectiveAllowsIt(
        directives: String,
        isReused: Bool
    ) async throws {
        let answer = FetchFixture.response("1", "Cache-Control: \(directives)")
        for second in [[], ["Authorization: Bearer a"], ["Authorization: Bearer b"]] {
            let first = ["Authorization: Bearer a"]
            #expect(try await CacheStage.reuses(answer, .shared, first: first, second: second) == isReused)
        }
    }

    @Test(arguments: ["must-revalidate, max-age=60", "s-maxage=60"])
    func sharedCachesObeyTheDirectiveThatAllowsReuse(directives: String) async throws {
        let stage = CacheStage(
            .shared,
            .response("1", "Cache-Control: \(directives)", "ETag: \"a\""),
            .failure(.unreachable)
        )
        _ = try await stage.get("Authorization: Bearer a")
        stage.advance(60)
        await #expect(throws: FetchError.self) { try await stage.get() }
    }

    @Test func privateCachesKeepUsersApart() async throws {
        let (ada, charles) = (["Authorization: Bearer a"], ["Authorization: Bearer b"])
        #expect(try await CacheStage.reuses(.fresh(), .private, first: ada, second: ada))
        #expect(try await !CacheStage.reuses(.fresh(), .private, first: ada, second: charles))
        #expect(try await !CacheStage.reuses(.fresh(), .private, first: ada))
    }
}
