import InwardScopes
import InwardTesting
import Synchronization
import TestSupport
import Testing

struct OnFirstUseTests {
    /// An object that records its creation in a journal.
    private final class Cache: Sendable {
        init(_ journal: Journal) { journal.add("create") }
    }

    private struct Objects: Sendable {
        let cache: OnFirstUse<Cache>
    }

    private typealias Example = Scope<AppLifetime, Objects>

    private let journal = Journal()
    private let clock = ManualClock()

    private func example() async -> Example {
        await Example.open("example", limit: ClosingLimit(.seconds(5), on: clock)) { [journal] opening in
            _ = opening.closing("store", as: "store") { _ in journal.add("close store") }
            let cache = opening.onFirstUse(as: "cache") {
                Cache(journal)
            } closing: { _ in
                journal.add("close cache")
            }
            _ = opening.closing("reader", as: "reader") { _ in journal.add("close reader") }
            return Objects(cache: cache)
        }
    }

    @Test func objectIsCreatedOnceOnFirstUse() async throws {
        let scope = try await example().objects()
        #expect(journal.entries.isEmpty)
        let first = try scope.cache.object()
        #expect(try scope.cache.object() === first)
        #expect(journal.entries == ["create"])
    }

    @Test func concurrentFirstUsesShareOneObject() async throws {
        let cache = try await example().objects().cache
        let objects = try await withThrowingTaskGroup(of: Cache.self) { group in
            for _ in 0..<8 { group.addTask { try cache.object() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(objects.allSatisfy { $0 === objects[0] })
        #expect(journal.entries == ["create"])
    }

    @Test func usedObjectIsClosedInOrder() async throws {
        let scope = await example()
        _ = try scope.objects().cache.object()
        try await scope.close()
        #expect(journal.entries == ["create", "close reader", "close cache", "close store"])
    }

    @Test func unusedObjectIsNeitherCreatedNorClosed() async throws {
        let scope = await example()
        try await scope.close()
        #expect(journal.entries == ["close reader", "close store"])
    }

    @Test func objectIsNotCreatedAfterTheScopeCloses() async throws {
        let scope = await example()
        let cache = try scope.objects().cache
        try await scope.close()
        let error = #expect(throws: ScopeError.self) { try cache.object() }
        #expect(error?.description == "cache is closed")
        #expect(journal.entries == ["close reader", "close store"])
    }

    @Test func failureToCloseNamesTheObject() async throws {
        struct Broken: Error, CustomStringConvertible { let description = "disk full" }
        let scope = await Example.open("example", limit: ClosingLimit(.seconds(5), on: clock)) { [journal] opening in
            let cache = opening.onFirstUse(as: "cache") {
                Cache(journal)
            } closing: { _ in
                throw Broken()
            }
            return Objects(cache: cache)
        }
        _ = try scope.objects().cache.object()
        let error = await #expect(throws: ScopeCloseError.self) { try await scope.close() }
        #expect(error?.failures.map(\.description) == ["app example > cache failed to close: disk full"])
    }

    @Test func failedCreationIsTriedAgain() async throws {
        let needed = try await example().objects().cache
        let attempts = Mutex(0)
        let scope = await Example.open("outer", limit: ClosingLimit(.seconds(5), on: clock)) { [journal] opening in
            let closed = await Example.open("needed", limit: ClosingLimit(.seconds(5), on: clock)) { opening in
                Objects(cache: opening.onFirstUse(as: "needed") { Cache(journal) })
            }
            let other = try? closed.objects().cache
            try? await closed.close()
            return Objects(
                cache: opening.onFirstUse(as: "cache") { () throws(ScopeError) in
                    let attempt = attempts.withLock { attempts in
                        attempts += 1
                        return attempts
                    }
                    guard attempt == 1, let other else { return try needed.object() }
                    return try other.object()
                }
            )
        }
        let cache = try scope.objects().cache
        let error = #expect(throws: ScopeError.self) { try cache.object() }
        #expect(error?.description == "needed is closed")
        #expect(try cache.object() === needed.object())
    }

    @Test func treeShowsUnusedObjectsAndReferences() async throws {
        struct Reader: Sendable { let cache: Cache }
        struct All: Sendable {
            let cache: OnFirstUse<Cache>
            let reader: OnFirstUse<Reader>
        }
        let scope = await Scope<AppLifetime, All>.open("example", limit: ClosingLimit(.seconds(5), on: clock)) {
            [journal] opening in
            let cache = opening.onFirstUse(as: "cache") { Cache(journal) }
            let reader = opening.onFirstUse(as: "reader") { () throws(ScopeError) in Reader(cache: try cache.object()) }
            return All(cache: cache, reader: reader)
        }
        #expect(
            scope.description == """
                app example (open)
                  cache: Cache, not used yet
                  reader: Reader, not used yet
                """
        )
        _ = try scope.objects().reader.object()
        #expect(
            scope.description == """
                app example (open)
                  cache: Cache
                  reader: Reader, holds cache
                """
        )
    }
}
