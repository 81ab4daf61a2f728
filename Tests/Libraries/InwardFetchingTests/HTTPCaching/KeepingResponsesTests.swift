import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache over a store, which a second cache has as well, as after a restart of the program.
@Suite(.timeLimit(.minutes(5)))
struct KeepingResponsesTests {
    private let caches = RestartedCaches()
    private let failure = ResponseStoreError(explanation: "The store is not available.")

    // MARK: Finding

    @Test func responseOutlivesTheCache() async throws {
        let before = caches.stage(.shared, .fresh("1", "Age: 5", "Content-Type: text/plain"))
        _ = try await before.get()
        #expect(await before.partition.flush())
        caches.clock.advance(by: .seconds(10))
        let after = caches.stage()
        let response = try await after.get()
        #expect(response.text == "1")
        #expect(response.headerFields.values(of: .age) == ["15"])
        #expect(response.headerFields[.contentType] == "text/plain")
        #expect(response.headerFields[.cacheStatus] == "Inward; hit; ttl=45")
        #expect(response.isReused)
        #expect(after.requests.isEmpty)
        // From now on, it is in memory.
        caches.store.fail(with: failure)
        #expect(try await after.get().isReused)
    }

    @Test func staleResponseIsValidatedAfterARestart() async throws {
        let before = caches.stage(.shared, .fresh("1", "ETag: \"a\""))
        _ = try await before.get()
        await before.partition.flush()
        caches.clock.advance(by: .seconds(100))
        let after = caches.stage(.shared, .notModified("Cache-Control: max-age=60", "ETag: \"a\""))
        #expect(try await after.get().text == "1")
        #expect(after.requests.map { $0.headerFields[.ifNoneMatch] } == ["\"a\""])
        // The store has the confirmed response.
        await after.partition.flush()
        caches.clock.advance(by: .seconds(50))
        #expect(try await caches.stage().get().headerFields[.age] == "50")
    }

    @Test func evictedResponsesAreFoundInTheStore() async throws {
        let large = String(repeating: "a", count: 6_000)
        let stage = caches.stage(
            .shared,
            byteLimit: 10_000,
            .fresh(large + "1"),
            .fresh(large + "2")
        )
        _ = try await stage.get(path: "1")
        _ = try await stage.get(path: "2")
        #expect(stage.cache.count == 1)
        await stage.partition.flush()
        #expect(try await stage.get(path: "1").text == (large + "1"))
        #expect(try await stage.get(path: "2").text == (large + "2"))
        #expect(stage.requests.count == 2)
    }

    @Test func responseThatDoesNotFitInMemoryIsFoundInTheStore() async throws {
        let stage = caches.stage(
            .shared,
            byteLimit: 1_000,
            .fresh(String(repeating: "a", count: 6_000)),
            .fresh("other")
        )
        #expect(try await stage.get().cacheStatus == "Inward; fwd=uri-miss; stored; ttl=60")
        #expect(stage.cache.count == 0)
        #expect(try await stage.get().isReused)
        await stage.partition.flush()
        #expect(try await stage.get().isReused)
        _ = try await stage.send(.post)
        #expect(caches.store.urls.isEmpty)
    }

    @Test func variantsArePickedByTheSameFields() async throws {
        let fields = ["Cache-Control: max-age=60", "Vary: Accept-Language, X-Other"]
        let before = caches.stage(.shared, .answer(DataResponse("de", fields)), .answer(DataResponse("en", fields)))
        _ = try await before.get("Accept-Language: de")
        _ = try await before.get("Accept-Language: en", "X-Other: 1")
        await before.partition.flush()
        let after = caches.stage(.shared, .response("other"))
        #expect(try await after.get("Accept-Language: DE").text == "de")
        #expect(try await after.get("Accept-Language: en", "X-Other: 1").text == "en")
        #expect(try await after.get("Accept-Language: en").text == "other")
    }

    @Test func partsStayParts() async throws {
        let fields = ["Cache-Control: max-age=60", "Content-Range: bytes 2-4/10", "ETag: \"a\""]
        let before = caches.stage(.shared, .answer(DataResponse("cde", status: 206, fields)))
        _ = try await before.get("Range: bytes=2-4")
        await before.partition.flush()
        let after = caches.stage(.shared, .response("abcdefghij"))
        let part = try await after.get("Range: bytes=3-4")
        #expect(part.status == .partialContent)
        #expect(part.headerFields[.contentRange] == "bytes 3-4/10")
        #expect(part.text == "de")
        #expect(try await after.get().text == "abcdefghij")
    }

    @Test func requestThatOnlyTheCacheMayAnswerFindsWhatIsInTheStore() async throws {
        let before = caches.stage(.shared, .fresh("1"))
        _ = try await before.get()
        await before.partition.flush()
        let after = caches.stage()
        #expect(try await after.get("Cache-Control: only-if-cached").text == "1")
        #expect(try await after.get(path: "other", "Cache-Control: only-if-cached").status == 504)
    }

    @Test func policyOfTheReaderCounts() async throws {
        let before = caches.stage(.shared, .fresh("1"))
        _ = try await before.get()
        await before.partition.flush()
        var strict = CachePolicy.shared
        strict.maximumLifetime = .seconds(30)
        caches.clock.advance(by: .seconds(30))
        #expect(try await caches.stage(strict, .response("2")).get().text == "2")
    }

    @Test func responseIsValidatedIfTheClockWasSetBack() async throws {
        let before = caches.stage(
            .shared,
            .response("1", "Cache-Control: max-age=60, stale-while-revalidate=10000", "ETag: \"a\"")
        )
        _ = try await before.get()
        await before.partition.flush()
        caches.clock.advance(by: .seconds(10))
        let after = caches.stage(.shared, isLateBy: 100, .response("2"))
        #expect(try await after.get().text == "2")
        #expect(after.requests.map { $0.headerFields[.ifNoneMatch] } == ["\"a\""])
    }

    @Test func sharedCacheDoesNotUseWhatAPrivateOneHasKept() async throws {
        let before = caches.stage(.private, .response("1", "Cache-Control: max-age=60, private"))
        _ = try await before.get()
        await before.partition.flush()
        #expect(caches.store.urls.count == 1)
        #expect(try await caches.stage(.shared, .response("2")).get().text == "2")
    }

    @Test(arguments: [
        "", "{}", #"{"version":2}"#,
        #"{"version":1,"isShared":true,"status":200,"headerFields":["Date"],"birth":0,"variant":{"fields":[],"isNegotiated":false}}"#,
        #"{"version":1,"isShared":true,"status":200,"headerFields":["a b","1"],"birth":0,"variant":{"fields":[],"isNegotiated":false}}"#,
        #"{"version":1,"isShared":true,"status":200,"headerFields":[],"birth":0,"variant":{"fields":[{"name":""}],"isNegotiated":false}}"#,
    ])
    func otherFormatsAreIgnored(metadata: String) async throws {
        let kept = KeptResponse(metadata: Data(metadata.utf8), body: Data("1".utf8), expiry: .distantFuture)
        try await caches.store.commit([.keep([kept], under: "http://upstream.test/")])
        let stage = caches.stage(.shared, .response("2"))
        #expect(try await stage.get().text == "2")
        stage.partition.removeAll(tagged: "any")
        #expect(await stage.partition.flush())
        #expect(caches.store.urls.isEmpty)
    }

    /// The fields that decide about the lifetime need not be among those that are stored.
    @Test(arguments: [
        [
            "Cache-Control: no-cache=\"Expires\"", "Expires: Thu, 01 Jan 1970 00:00:00 GMT",
            "Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT",
        ],
        ["Cache-Control: no-cache", "Connection: Cache-Control", "Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT"],
    ]) func directivesThatWereNotStoredStillCount(fields: [String]) async throws {
        let before = caches.stage(.shared, .answer(DataResponse("1", fields)))
        _ = try await before.get()
        await before.partition.flush()
        #expect(caches.store.urls.count == 1)
        #expect(try await caches.stage(.shared, .response("2")).get().text == "2")
    }

    @Test(arguments: [
        ("\"noStore\":false", "\"noStore\":true"), ("\"isPrivate\":false", "\"isPrivate\":true"),
        ("\"X-Other\"", "\"Set-Cookie\""), ("\"X-Other\"", "\"Age\""),
    ]) func whatMustNotBeStoredIsNotFound(text: String, other: String) async throws {
        let before = caches.stage(.shared, .fresh("1", "X-Other: 1"))
        _ = try await before.get()
        await before.partition.flush()
        let url = try #require(caches.store.urls.first)
        let kept = try #require(try await caches.store.responses(for: url).first)
        let metadata = String(decoding: kept.metadata, as: UTF8.self)
        #expect(metadata.contains(text))
        let changed = KeptResponse(
            metadata: Data(metadata.replacing(text, with: other).utf8),
            body: kept.body,
            expiry: kept.expiry
        )
        try await caches.store.commit([.keep([changed], under: url)])
        #expect(try await caches.stage(.shared, .response("2")).get().text == "2")
    }

    // MARK: Not keeping

    @Test(
        arguments: [
            (["Set-Cookie: a=b", "Cache-Control: max-age=60"], [], CachePolicy.shared),
            (["Cache-Control: max-age=60"], ["Authorization: Bearer secret"], .private),
            (["Cache-Control: max-age=60"], ["Cookie: secret"], .private),
            (["Cache-Control: max-age=60", "Vary: Cookie"], ["Cookie: secret"], .private),
            (["Cache-Control: max-age=60, public", "Vary: X-API-Key"], ["X-API-Key: secret"], .shared),
        ] as [([String], [String], CachePolicy)]
    )
    func credentialsDoNotLeaveTheMemory(response: [String], request: [String], policy: CachePolicy) async throws {
        let stage = caches.stage(policy, .answer(DataResponse("1", response)))
        _ = try await stage.send(.get, request)
        #expect(await stage.partition.flush())
        #expect(caches.store.urls.isEmpty)
        #expect(try await stage.send(.get, request).isReused)
    }

    @Test func responsesWithoutCredentialsAreKeptBesideThoseWithThem() async throws {
        let before = caches.stage(.private, .fresh("mine"), .fresh("anyone's"))
        _ = try await before.get("Authorization: Bearer secret")
        _ = try await before.get()
        await before.partition.flush()
        let after = caches.stage(.private, .response("other"))
        #expect(try await after.get().text == "anyone's")
        #expect(try await after.get("Authorization: Bearer secret").text == "other")
    }

    @Test func responsesThatMustNotBeStoredAreNot() async throws {
        let stage = caches.stage(
            .shared,
            .response("1", "Cache-Control: no-store"),
            .response("2", "Cache-Control: private, max-age=9")
        )
        _ = try await stage.get()
        _ = try await stage.get()
        await stage.partition.flush()
        #expect(caches.store.commits.isEmpty)
    }

    // MARK: Removing

    @Test func unsafeRequestRemovesFromTheStoreBeforeItReturns() async throws {
        let stage = caches.stage(.shared, .fresh(), .fresh(), .fresh(), .response(status: 201, "Location: /b"))
        for path in ["a", "b", "c"] { _ = try await stage.get(path: path) }
        await stage.partition.flush()
        _ = try await stage.send(.post, path: "a")
        #expect(caches.store.urls == ["http://upstream.test/c"])
    }

    @Test func unsafeRequestEmptiesTheStoreIfThePolicySaysSo() async throws {
        var policy = CachePolicy.shared
        policy.invalidatesAll = true
        let stage = caches.stage(policy, .fresh("1"), .response(status: 204))
        _ = try await stage.get(path: "a")
        await stage.partition.flush()
        _ = try await stage.send(.delete, path: "b")
        #expect(caches.store.urls.isEmpty)
    }

    @Test func responseThatMustNotBeStoredRemovesTheStoredOneBeforeItIsReturned() async throws {
        let before = caches.stage(.shared, .fresh("1"))
        _ = try await before.get()
        await before.partition.flush()
        caches.clock.advance(by: .seconds(60))
        let after = caches.stage(.shared, .response("2", "Cache-Control: no-store"))
        #expect(try await after.get().text == "2")
        #expect(caches.store.urls.isEmpty)
    }

    @Test(
        arguments: [
            { $0.remove($1) }, { partition, _ in partition.removeAll(tagged: "one") }, { $0.removeAll(below: $1) },
        ] as [@Sendable (ResponseCache.Partition, URL) -> Void]
    )
    func removalFindsWhatIsOnlyInTheStore(
        remove: @Sendable (ResponseCache.Partition, URL) -> Void
    ) async throws {
        let before = caches.stage(
            .shared,
            .fresh("1", "Cache-Tag: one"),
            .fresh("2", "Cache-Tag: two")
        )
        _ = try await before.get(path: "1")
        _ = try await before.get(path: "2")
        await before.partition.flush()
        let after = caches.stage(.shared, .fresh("3"))
        remove(after.partition, try after.request(path: "1").url)
        // Also before the store has removed it.
        #expect(try await after.get(path: "1").text == "3")
        #expect(try await after.get(path: "2").text == "2")
        await after.partition.flush()
        #expect(try await caches.stage().get(path: "1").text == "3")
    }

    @Test func closedPartitionLeavesNothingInTheStore() async throws {
        let stage = caches.stage(.shared, .fresh(), .fresh())
        _ = try await stage.get()
        stage.partition.close()
        _ = try await stage.get()
        #expect(await stage.partition.flush())
        #expect(caches.store.urls.isEmpty)
    }

    /// A removal by a condition that does not apply to the response keeps the newer one from being stored.
    @Test(arguments: ["max-age=60", "no-store"])
    func outdatedResponseIsNotFoundAgainAfterAnUnrelatedRemoval(cacheControl: String) async throws {
        let partition = Mutex<ResponseCache.Partition?>(nil)
        let answers = Mutex([
            DataResponse("1", ["Cache-Control: max-age=60"]), DataResponse("2", ["Cache-Control: \(cacheControl)"]),
        ])
        let upstream = StubDataFetcher { _ throws(FetchError) in
            partition.withLock(\.self)?.removeAll(tagged: "unknown")
            return answers.withLock { $0.isEmpty ? DataResponse("3", []) : $0.removeFirst() }
        }
        let stage = CacheStage(.shared, clock: caches.clock, over: caches.store, upstream: upstream)
        _ = try await stage.get()
        await stage.partition.flush()
        #expect(caches.store.urls.count == 1)
        partition.withLock { $0 = stage.partition }
        #expect(try await stage.get("Cache-Control: no-cache").text == "2")
        #expect(try await stage.get().text != "1")
        await stage.partition.flush()
        #expect(try await caches.stage(.shared, .response("4")).get().text != "1")
    }

    @Test func responseThatTheSearchMissedIsRemoved() async throws {
        let before = caches.stage(.shared, .fresh("1"))
        _ = try await before.get()
        await before.partition.flush()
        caches.store.fail(with: failure)
        let after = caches.stage(.shared, .response("2", "Cache-Control: no-store"))
        #expect(try await after.get().text == "2")
        caches.store.fail(with: nil)
        #expect(await after.partition.flush())
        #expect(caches.store.urls.isEmpty)
    }

    /// The answer to a change waits for the store, and so does one that outdates a variant, although another variant stays.
    @Test(arguments: [true, false]) func answersWaitUntilTheStoreHasRemovedWhatTheyOutdate(isPost: Bool) async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let slow = SlowResponseStore(caches.store, on: scheduler.timer) { .seconds(1) }
        let cache = ResponseCache(byteLimit: 100_000, clock: scheduler.clock, executor: scheduler.executor)
        let partition = cache.makePartition(.shared, over: slow)
        let fields = ["Cache-Control: max-age=1000", "Vary: Accept-Language"]
        let upstream = ScriptedDataFetcher([
            .answer(DataResponse("de", fields)), .answer(DataResponse("en", fields)),
            .response("other", "Cache-Control: no-store", "Vary: Accept-Language"),
        ])
        let fetcher = upstream.caching(in: partition)
        let store = caches.store
        let count = try await scheduler.run {
            func request(_ fields: String...) throws -> DataRequest {
                var request = try DataRequest.example()
                request.headerFields = HeaderFields(lines: fields)
                return request
            }
            _ = try await fetcher.fetch(request("Accept-Language: de"))
            _ = try await fetcher.fetch(request("Accept-Language: en"))
            await partition.flush()
            var last = try request("Accept-Language: de", "Cache-Control: no-cache")
            if isPost { last.method = .post }
            #expect(try await fetcher.fetch(last).text == "other")
            // At this moment.
            return try await store.responses(for: last.url.absoluteString).count
        }
        #expect(count == (isPost ? 0 : 1))
    }
}
