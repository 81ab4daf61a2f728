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

/// Response shapes of real upstreams.
@Suite(.timeLimit(.minutes(5)))
struct EnvelopeTests {
    /// `{"data": {"items": […]}, "next": …}`.
    private struct Page: Decodable {
        struct Content: Decodable { let items: RecordList<RemarkDTO> }
        let data: Content
        let next: String?
    }

    /// `{"data": {…}}`.
    private struct One: Decodable {
        let data: RemarkDTO
    }

    private static let record = #"{"id": 1, "author": 7, "text": "one"}"#

    private static func page(_ records: String..., next: String = "null") -> String {
        #"{"data": {"items": [\#(records.joined(separator: ","))]}, "next": \#(next)}"#
    }

    private let endpoint = Endpoint(
        RemarkDTO.self,
        at: "remarks",
        oneIn: Envelope(One.self) { $0.data },
        listIn: Envelope(Page.self) { $0.data.items },
        paging: .links(size: "_limit") { try? JSONDecoder().decode(Page.self, from: $0.body).next }
    )

    private func repository(_ source: any DataFetcher, store: (any RecordStore)? = nil) throws -> Repository<Remark> {
        let place = store.map { RepositoryStore($0, partition: [], now: { Date() }, reportFailure: { _ in }) }
        return Repository(endpoint, upstream: try .example(source), store: place, timer: TimerService(ManualClock()))
    }

    @Test func listIsReadFromItsEnvelope() async throws {
        let upstream = StubDataFetcher(DataResponse(body: Data(Self.page(Self.record, #"{"id": 2}"#).utf8)))
        let reading = try await repository(upstream).entities()
        #expect(reading.value == [Remark(id: 1, author: 7, text: "one")])
        #expect(reading.rejected.map(\.description) == ["remarks[1].author is missing"])
    }

    @Test func entityIsReadFromItsEnvelope() async throws {
        let upstream = StubDataFetcher(DataResponse(body: Data(#"{"data": \#(Self.record)}"#.utf8)))
        #expect(try await repository(upstream).entity(1).value.text == "one")
    }

    @Test(arguments: [
        (#"[\#(record)]"#, "is not an object"), (#"{"data": {}, "next": null}"#, "its field “data.items” is missing"),
    ])
    func unexpectedShapeIsAnErrorThatNamesTheField(body: String, problem: String) async throws {
        let repository = try repository(StubDataFetcher(DataResponse(body: Data(body.utf8))))
        let error = await #expect(throws: RepositoryError.self) { try await repository.entities() }
        #expect(error?.reason == .unreadable && error?.explanation.contains(problem) == true)
    }

    /// A store keeps the record alone, so a changed envelope does not affect it.
    @Test func storeKeepsRecordsWithoutEnvelopes() async throws {
        let store = InMemoryRecordStore()
        let body = Data(Self.page(Self.record).utf8)
        let first = try repository(StubDataFetcher(DataResponse(body: body)), store: store)
        _ = try await first.entities()
        await first.close()
        let offline = StubDataFetcher { request throws(FetchError) in
            throw FetchError(.unreachable, request: request, explanation: "was not sent")
        }
        let next = try repository(offline, store: store)
        #expect(try await next.entities(.all, .cacheOnly).value.map(\.text) == ["one"])
        #expect(try await next.entity(1, .cacheOnly).value.text == "one")
        let bare = Repository(
            Endpoint(RemarkDTO.self, at: "remarks"),
            upstream: try .example(offline),
            store: RepositoryStore(store, partition: [], now: { Date() }, reportFailure: { _ in }),
            timer: TimerService(ManualClock())
        )
        #expect(try await bare.entity(1, .cacheOnly).value.text == "one")
    }

    @Test func pagesFollowTheLinkInTheEnvelope() async throws {
        let bodies = [
            Self.page(Self.record, next: #""/api/remarks?_start=1""#), Self.page(next: #""remarks?_start=2""#),
            Self.page(#"{"id": 3, "author": 7, "text": "three"}"#),
        ]
        let source = RecordingDataFetcher(
            ScriptedDataFetcher(bodies.map { .answer(DataResponse(body: Data($0.utf8))) })
        )
        var ids: [[Int]] = []
        for try await page in try #require(repository(source).pages(of: 1)) { ids.append(page.value.map(\.id)) }
        #expect(ids == [[1], [3]])
        #expect(
            source.requests.map(\.url.absoluteString) == [
                "http://upstream.test/api/remarks?_limit=1", "http://upstream.test/api/remarks?_start=1",
                "http://upstream.test/api/remarks?_start=2",
            ]
        )
    }
}
