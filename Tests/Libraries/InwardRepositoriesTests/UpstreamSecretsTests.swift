import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

/// A base URL with secrets, which must not appear in a store or a message.
struct UpstreamSecretsTests {
    private let upstream: Upstream

    init() throws {
        let url = try #require(URL(string: "https://ada:s3cret@upstream.test/api/?key=s3cret#s3cret"))
        upstream = Upstream(baseURL: url, dataFetcher: StubDataFetcher(failing: .unreachable))
    }

    @Test func nameInAStoreHasNoSecrets() {
        #expect(upstream.nameInStore == "https://upstream.test/api")
        let place = RepositoryStore(
            InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) }),
            of: ["users", "ada"],
            at: upstream,
            now: { Date(timeIntervalSince1970: 0) },
            tellingFailuresTo: IgnoringErrorHandler()
        )
        #expect(place.partition == ["upstreams", "https://upstream.test/api", "users", "ada"])
    }

    @Test func upstreamsAtDifferentPathsHaveSeparatePartitions() throws {
        let names = try ["https://a.test/x", "https://a.test/y", "https://a.test:8443/x", "http://a.test/x"].map {
            text in
            Upstream(baseURL: try #require(URL(string: text)), dataFetcher: upstream.dataFetcher).nameInStore
        }
        #expect(Set(names).count == 4)
    }

    @Test func creationErrorShowsNoSecrets() async throws {
        struct Memo: Identifiable, Sendable { let id: Int }
        struct MemoDTO: RecordDTO {
            static let listName = "memos"
            let id: Int
            init(_ memo: Memo) { id = memo.id }
            func entity() throws(FieldError) -> Memo { Memo(id: id) }
        }
        let memos = Repository(Endpoint(MemoDTO.self, at: "memos"), upstream: upstream)
        let error = await #expect(throws: RepositoryError.self) { try await memos.create(["text": "New"]) }
        #expect(error?.request == "POST https://upstream.test/api/memos?key=…")
        await memos.close()
    }
}
