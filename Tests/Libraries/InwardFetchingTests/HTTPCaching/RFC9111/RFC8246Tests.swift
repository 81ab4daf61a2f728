import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 8246: immutable responses.
struct RFC8246Tests {
    private let answer = FetchFixture.response("1", "Cache-Control: max-age=60, immutable", "ETag: \"a\"")

    // MARK: 2 The immutable directive

    @Test(arguments: CachePolicy.both)
    func aFreshImmutableResponseIsNotValidatedOnReload(policy: CachePolicy) async throws {
        let reload = ["Cache-Control: max-age=0"]
        #expect(try await CacheStage.reuses(answer, policy, after: 59, second: reload))
        #expect(try await !CacheStage.reuses(.fresh("1"), policy, after: 59, second: reload))
    }

    @Test(arguments: CachePolicy.both)
    func aForcedReloadIsObeyed(policy: CachePolicy) async throws {
        #expect(try await !CacheStage.reuses(answer, policy, second: ["Cache-Control: no-cache"]))
        #expect(try await !CacheStage.reuses(answer, policy, second: ["Cache-Control: max-age=0, no-cache"]))
    }

    @Test(arguments: CachePolicy.both)
    func aStaleImmutableResponseIsValidated(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, answer, .notModified("ETag: \"a\""))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "1")
        #expect(stage.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
    }

    @Test func immutableIsNoLifetime() async throws {
        #expect(try await !CacheStage.reuses(.response("1", "Cache-Control: immutable", "ETag: \"a\"")))
    }
}
