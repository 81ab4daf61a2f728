import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Lists with their own path, such as `authors/7/remarks`.
@Suite(.timeLimit(.minutes(5)))
struct NestedListTests {
    private static func nested(_ author: Int) -> EntityFilter<Remark> {
        EntityFilter(at: "authors/\(author)/remarks", of: ["authors", String(author)]) { $0.author == author }
    }

    private static let source = StubDataFetcher { request throws(FetchError) in
        let path = request.url.path(percentEncoded: false)
        guard path != "/api/remarks" else {
            return DataResponse(body: Data(#"[{"id": 2, "author": 8, "text": "two"}]"#.utf8))
        }
        return DataResponse(body: Data(#"[{"id": 1, "author": 7, "text": "one"}]"#.utf8))
    }

    private func repository(
        _ source: any DataFetcher,
        store: (any RecordStore)? = nil
    ) throws -> Repository<Remark> {
        Repository(
            Endpoint(RemarkDTO.self, at: "remarks", paging: .numbers("_page", size: "_limit")),
            upstream: try .example(source),
            store: store.map { RepositoryStore($0, partition: [], now: { Date() }, reportFailure: { _ in }) },
            timer: TimerService(ManualClock())
        )
    }

    @Test func nestedListIsRequestedAtItsPath() async throws {
        let source = RecordingDataFetcher(Self.source)
        let repository = try repository(source)
        #expect(try await repository.entities(Self.nested(7)).value.map(\.id) == [1])
        #expect(try await repository.entities(Self.nested(7)).origin == .memory)
        #expect(try await repository.entities().value.map(\.id) == [2])
        #expect(source.requests.map { $0.url.path() } == ["/api/authors/7/remarks", "/api/remarks"])
    }

    @Test func pagesOfANestedListAreRequestedAtItsPath() async throws {
        let source = RecordingDataFetcher(Self.source)
        var pages = try #require(repository(source).pages(Self.nested(7), of: 5)).makeAsyncIterator()
        #expect(try await pages.next()?.value.map(\.id) == [1])
        #expect(source.requests.map { $0.url.absoluteString.dropFirst(24) } == ["/authors/7/remarks?_page=1&_limit=5"])
    }

    @Test func nestedListsAreStoredSeparately() async throws {
        let store = InMemoryRecordStore()
        let first = try repository(Self.source, store: store)
        _ = try await first.entities(Self.nested(7))
        _ = try await first.entities()
        await first.close()
        let next = try repository(StubDataFetcher(DataResponse(status: 500)), store: store)
        #expect(try await next.entities(Self.nested(7), .cacheOnly).value.map(\.id) == [1])
        #expect(try await next.entities(.all, .cacheOnly).value.map(\.id) == [2])
        let error = await #expect(throws: RepositoryError.self) { try await next.entities(Self.nested(8), .cacheOnly) }
        #expect(error?.reason == .unavailable)
    }

    @Test func keysOfPathsAndFieldsDiffer() {
        let nested = Self.nested(7)
        #expect(nested == EntityFilter(at: "/authors/7/remarks") { _ in false })
        #expect(nested.hashValue == EntityFilter<Remark>(at: "authors/7/remarks") { _ in false }.hashValue)
        #expect(nested != Self.nested(8) && nested != .all && nested != .author(7))
        let both = nested.and(.author(7))
        #expect(both.path == ["authors", "7", "remarks"] && both.fields.map(\.name) == ["author"])
        #expect(EntityFilter<Remark>.author(7).and(nested).path == nested.path)
    }

    @Test func pathWithDotComponentsIsNotRequested() async throws {
        let source = RecordingDataFetcher(Self.source)
        let repository = try repository(source)
        let filter = EntityFilter<Remark>(at: "authors/../secrets") { _ in true }
        let error = await #expect(throws: RepositoryError.self) { try await repository.entities(filter) }
        #expect(error?.reason == .refused)
        #expect(source.requests.isEmpty)
    }
}
