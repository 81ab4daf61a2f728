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

@Suite(.timeLimit(.minutes(5)))
struct PagesTests {
    private static func record(_ id: Int) -> String { #"{"id": \#(id), "author": 7, "text": "t"}"# }

    /// An upstream with this many remarks, which returns the page that a query requests.
    private static func source(_ count: Int, next: Bool = false) -> RecordingDataFetcher {
        RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
                func number(_ name: String) -> Int? { items.first { $0.name == name }?.value.flatMap { Int($0) } }
                let size = number("_limit") ?? count
                let start = number("_start") ?? number("cursor") ?? ((number("_page") ?? 1) - 1) * size
                let records = (start..<max(start, min(start + size, count))).map { record($0 + 1) }
                var response = DataResponse(body: Data("[\(records.joined(separator: ","))]".utf8))
                if next, start + size < count { response.headerFields[.location] = String(start + size) }
                return response
            }
        )
    }

    private func repository(_ paging: Paging?, _ source: RecordingDataFetcher) throws -> Repository<Remark> {
        Repository(
            Endpoint(RemarkDTO.self, at: "remarks", paging: paging),
            upstream: try .example(source),
            timer: TimerService(ManualClock())
        )
    }

    private func ids(_ pages: Pages<Remark>?) async throws -> [[Int]] {
        var ids: [[Int]] = []
        for try await page in try #require(pages) { ids.append(page.value.map(\.id)) }
        return ids
    }

    static let kinds: [Paging] = [
        .numbers("_page", size: "_limit"),
        .offsets("_start", size: "_limit"),
        .cursors("cursor", size: "_limit") { $0.headerFields[.location] },
    ]

    @Test(arguments: kinds.indices, [(5, [[1, 2], [3, 4], [5]]), (4, [[1, 2], [3, 4]]), (0, [])])
    func eachPageIsReadOnceInOrder(kind: Int, remarks: (count: Int, pages: [[Int]])) async throws {
        let repository = try repository(Self.kinds[kind], Self.source(remarks.count, next: true))
        #expect(try await ids(repository.pages(of: 2)) == remarks.pages)
    }

    @Test func entitiesOfPagesAreCached() async throws {
        let source = Self.source(5)
        let repository = try repository(.offsets("_start", size: "_limit"), source)
        _ = try await ids(repository.pages(of: 5))
        let asked = source.requests.count
        #expect(try await repository.entity(4).origin == .memory)
        #expect(source.requests.count == asked)
        // No older page is in flight any more.
        repository.invalidateAll()
        #expect(repository.memory.changeCount == 0)
    }

    @Test(arguments: [-1, 0, 1]) func pageSizeIsAtLeastOne(size: Int) async throws {
        let source = Self.source(2)
        let repository = try repository(.numbers("_page", size: "_limit"), source)
        #expect(try await ids(repository.pages(of: size)).prefix(2) == [[1], [2]])
        #expect(source.requests[0].url.query() == "_page=1&_limit=1")
    }

    @Test func pageIsRequestedWhenItIsIterated() async throws {
        let source = Self.source(100)
        let pages = try #require(try repository(.numbers("_page", size: "_limit"), source).pages(of: 10))
        var iterator = pages.makeAsyncIterator()
        _ = try await iterator.next()
        #expect(source.requests.count == 1)
        _ = try await iterator.next()
        #expect(source.requests.map { $0.url.query() } == ["_page=1&_limit=10", "_page=2&_limit=10"])
    }

    @Test(arguments: kinds.indices) func repeatedPageIsAnError(kind: Int) async throws {
        let source = RecordingDataFetcher(
            StubDataFetcher { _ throws(FetchError) in
                var response = DataResponse(body: Data("[\(Self.record(1)), \(Self.record(2))]".utf8))
                response.headerFields[.location] = "again"
                return response
            }
        )
        let repository = try repository(Self.kinds[kind], source)
        let error = await #expect(throws: RepositoryError.self) { try await ids(repository.pages(of: 2)) }
        #expect(error?.reason == .unreadable)
        #expect(source.requests.count == 2)
    }

    @Test(arguments: [0, 1], [1, 2])
    func repeatedDamagedPageIsAnError(kind: Int, count: Int) async throws {
        let page = "[\((0..<count).map { #"{"id": "x\#($0)"}"# }.joined(separator: ","))]"
        let source = RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                // Stops a test that would never end.
                let isLate = request.url.query()?.contains("9") == true
                return DataResponse(body: Data((isLate ? "[]" : page).utf8))
            }
        )
        var pages = try #require(repository(Self.kinds[kind], source).pages(of: count)).makeAsyncIterator()
        #expect(try await pages.next()?.rejected.count == count)
        let error = await #expect(throws: RepositoryError.self) { try await pages.next() }
        #expect(error?.reason == .unreadable)
        #expect(try await pages.next() == nil)
        #expect(source.requests.count == 2)
    }

    /// Only consecutive equal pages count as a repetition.
    @Test func differentDamagedPagesAreReadToTheEnd() async throws {
        let damaged = [#"[{"id": "x"}]"#, #"[{"id": "y"}]"#]
        let bodies = [damaged[0], damaged[1], "[\(Self.record(1))]", damaged[1], "[]"]
        let source = RecordingDataFetcher(
            ScriptedDataFetcher(bodies.map { .answer(DataResponse(body: Data($0.utf8))) })
        )
        let repository = try repository(.numbers("_page", size: "_limit"), source)
        #expect(try await ids(repository.pages(of: 1)) == [[], [], [1], []])
        #expect(source.requests.count == 5)
    }

    @Test(arguments: [(ReadPolicy.cacheFirst, nil), (.upstreamFirst, "no-cache"), (.upstreamOnly, "no-cache")])
    func pagesFromTheUpstreamBypassCaches(policy: ReadPolicy, header: String?) async throws {
        let source = Self.source(3)
        let repository = try repository(.numbers("_page", size: "_limit"), source)
        _ = try await ids(repository.pages(of: 2, policy))
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == [header, header])
    }

    @Test func fallbackPageIsNotCached() async throws {
        let source = RemarkSource()
        source.degrade()
        let repository = try repository(.numbers("_page", size: "_limit"), RecordingDataFetcher(source))
        var pages = try #require(repository.pages(of: 5)).makeAsyncIterator()
        let page = try #require(try await pages.next())
        #expect(page.value.map(\.id) == [1, 2, 3] && page.fallbackReason != nil)
        _ = try await repository.entity(1)
        #expect(source.requests.count == 2)
    }

    /// Each entity of a page takes an equal share of its bytes.
    @Test func entitiesOfAPageAreCachedUpToTheLimit() async throws {
        let source = Self.source(5)
        let body = (1...5).map(Self.record).joined(separator: ",").utf8.count + 2
        let repository = Repository<Remark>(
            Endpoint(RemarkDTO.self, at: "remarks", paging: .numbers("_page", size: "_limit")),
            upstream: try .example(source),
            memory: MemoryLimit(count: 5, bytes: body),
            timer: TimerService(ManualClock())
        )
        _ = try await ids(repository.pages(of: 10))
        for id in 1...5 { #expect(try await repository.entity(id).origin == .memory) }
        #expect(source.requests.count == 1)
    }

    @Test func pagesOfAnUpstreamThatIgnoresTheFilterAreReadToTheEnd() async throws {
        let source = Self.source(5)
        let repository = try repository(.numbers("_page", size: "_limit"), source)
        let filter = EntityFilter<Remark>("author", "8") { $0.id == 5 }
        #expect(try await ids(repository.pages(filter, of: 2)) == [[], [], [5]])
        #expect(source.requests[0].url.query() == "author=8&_page=1&_limit=2")
    }

    @Test func endpointWithoutPagingHasNoPages() throws {
        #expect(try repository(nil, Self.source(1)).pages(of: 2) == nil)
    }

    @Test func closedRepositoryHasNoPages() async throws {
        let source = Self.source(5)
        let repository = try repository(.numbers("_page", size: "_limit"), source)
        let pages = try #require(repository.pages(of: 2))
        var iterator = pages.makeAsyncIterator()
        _ = try await iterator.next()
        await repository.close()
        let error = await #expect(throws: RepositoryError.self) { try await iterator.next() }
        #expect(error?.reason == .closed)
        #expect(source.requests.count == 1)
    }

    private static func linked(_ links: [String?]) -> RecordingDataFetcher {
        RecordingDataFetcher(
            ScriptedDataFetcher(
                links.enumerated().map { place, link in
                    var response = DataResponse(body: Data("[\(record(place + 1))]".utf8))
                    response.headerFields[.link] = link
                    return .answer(response)
                }
            )
        )
    }

    @Test func pagesFollowTheUpstreamsLinks() async throws {
        let source = Self.linked([
            #"<http://upstream.test/api/remarks?at=b>; rel="next""#, #"<?at=c>; rel="next", <?at=z>; rel="last""#,
            #"<?at=a>; rel="prev""#,
        ])
        let repository = try repository(.links(), source)
        #expect(try await ids(repository.pages(.author(7), of: 2)) == [[1], [2], [3]])
        #expect(source.requests.map { $0.url.query() } == ["author=7", "at=b", "at=c"])
    }

    @Test func pageSizeIsRequestedOnceWithLinks() async throws {
        let source = Self.linked([#"<?at=b>; rel="next""#, nil])
        _ = try await ids(repository(.links(size: "_limit"), source).pages(of: 2))
        #expect(source.requests.map { $0.url.query() } == ["_limit=2", "at=b"])
    }

    @Test(arguments: [
        "http://elsewhere.test/remarks", "https://upstream.test/api/remarks", "//elsewhere.test", "file:///x",
    ])
    func linkToAnotherOriginIsNotFollowed(target: String) async throws {
        let source = Self.linked(["<\(target)>; rel=next", nil])
        let repository = try repository(.links(), source)
        let error = await #expect(throws: RepositoryError.self) { try await ids(repository.pages(of: 2)) }
        #expect(error?.reason == .unreadable && error?.explanation.contains(target) == true)
        #expect(source.requests.count == 1)
    }

    @Test(arguments: [["?", "?"], ["?at=b", "?at=c", "?at=b"], ["remarks"]])
    func cycleOfLinksIsAnError(targets: [String]) async throws {
        let source = Self.linked(targets.map { "<\($0)>; rel=next" } + [nil, nil])
        let repository = try repository(.links(), source)
        let error = await #expect(throws: RepositoryError.self) { try await ids(repository.pages(of: 2)) }
        #expect(error?.reason == .unreadable)
        #expect(source.requests.count == targets.count)
    }

    /// An upstream that filters after paging has pages without records.
    @Test func emptyPageWithALinkIsNotTheEnd() async throws {
        let bodies: [(String, String?)] = [("[]", "b"), ("[\(Self.record(5))]", "c"), ("[]", nil)]
        let source = RecordingDataFetcher(
            ScriptedDataFetcher(
                bodies.map { body, next in
                    var response = DataResponse(body: Data(body.utf8))
                    response.headerFields[.location] = next
                    return .answer(response)
                }
            )
        )
        let repository = try repository(.cursors("cursor", size: "_limit") { $0.headerFields[.location] }, source)
        #expect(try await ids(repository.pages(of: 2)) == [[5]])
        #expect(source.requests.map { $0.url.query() } == ["_limit=2", "cursor=b&_limit=2", "cursor=c&_limit=2"])
    }
}
