import Foundation
import Infrastructure
import InwardFetching
import InwardImageCodecs
import InwardImages
import InwardTesting
import Testing

struct SampleDataFetcherTests {
    private let fetcher = SampleDataFetcher()

    private func request(_ path: String, method: DataRequest.Method = .get, body: String? = nil) throws -> DataRequest {
        let url = try #require(URL(string: path, relativeTo: SampleDataFetcher.baseURL)?.absoluteURL)
        return DataRequest(method: method, url: url, body: body.map { Data($0.utf8) })
    }

    private func list(_ path: String) async throws -> [[String: Any]] {
        let body = try await fetcher.fetch(request(path)).body
        return try #require(JSONSerialization.jsonObject(with: body) as? [[String: Any]])
    }

    @Test func sampleConforms() async throws {
        let json = HeaderField(.contentType, "application/json; charset=utf-8")
        let posts = try await fetcher.fetch(request("posts"))
        let users = try await fetcher.fetch(request("users"))
        let first = try await fetcher.fetch(request("users/1"))
        let comment = #"{"body":"x","id":1,"postId":1}"#
        let conformance = DataFetcherConformance(
            exchanges: [
                try DataFetcherExchange(request("posts"), DataResponse(headerFields: [json], body: posts.body)),
                try DataFetcherExchange(request("users/1"), DataResponse(headerFields: [json], body: first.body)),
                try DataFetcherExchange(request("users"), DataResponse(headerFields: [json], body: users.body)),
                try DataFetcherExchange(request("users?_limit=0"), DataResponse(body: Data("[]".utf8))),
                try DataFetcherExchange(request("users/11"), DataResponse(status: .notFound, body: Data("{}".utf8))),
                try DataFetcherExchange(
                    request("comments/1", method: .put, body: comment),
                    DataResponse(headerFields: [json], body: Data(comment.utf8))
                ),
            ],
            impossible: [try request("http://upstream.test/users")],
            // The sample is small and always the same, and header fields do not matter.
            lacking: [
                .serverError, .repeatedHeaderField, .largeBody, .method, .requestBody, .largeRequestBody,
                .requestField, .repeatedRequestField, .failure, .unanswered, .unfinished, .counting,
            ]
        )
        try await conformance.check(fetcher)
    }

    @Test(arguments: [DataRequest.Method.get, .post, .delete])
    func addressesOutsideTheSampleAreRejectedForEveryMethod(method: DataRequest.Method) async throws {
        let error = await #expect(throws: FetchError.self) {
            try await fetcher.fetch(request("http://evil.test/posts", method: method, body: "{}"))
        }
        #expect(error?.reason == .invalidRequest)
    }

    @Test func sampleHasTenUsersAndAHundredPosts() async throws {
        let users = try await list("users")
        let posts = try await list("posts")
        #expect(users.compactMap { $0["id"] as? Int } == Array(1...10))
        #expect(posts.compactMap { $0["id"] as? Int } == Array(1...100))
        #expect(Set(posts.compactMap { $0["userId"] as? Int }) == Set(1...10))
    }

    @Test func listsCanBeFilteredAndSliced() async throws {
        #expect(try await list("posts?userId=7").count == 10)
        #expect(try await list("posts?userId=7").allSatisfy { $0["userId"] as? Int == 7 })
        #expect(try await list("posts?_start=10&_limit=5").compactMap { $0["id"] as? Int } == Array(11...15))
    }

    @Test func eachUserHasADifferentImage() async throws {
        var images: Set<Data> = []
        for number in 0...11 {
            let response = try await fetcher.fetch(request("avatars/\(number).jpg"))
            #expect(response.status == ((1...10).contains(number) ? .ok : .notFound))
            guard response.status == .ok else { continue }
            #expect(response.headerFields[.contentType] == "image/jpeg")
            #expect(try JPEGCodec().header(of: [UInt8](response.body)).size == ImageSize(width: 128, height: 128))
            images.insert(response.body)
        }
        #expect(images.count == 10)
        #expect(try await fetcher.fetch(request("avatars/x.jpg")).status == .notFound)
    }

    // MARK: Writing

    private func record(_ path: String) async throws -> (fields: [String: Any], tag: String?) {
        let response = try await fetcher.fetch(request(path))
        let fields = try #require(JSONSerialization.jsonObject(with: response.body) as? [String: Any])
        return (fields, response.headerFields[.etag])
    }

    @Test func createdRecordsAreReadAndNeverReuseAnIdentity() async throws {
        let created = try await fetcher.fetch(request("posts", method: .post, body: #"{"userId":7,"title":"x"}"#))
        #expect(created.status == .created)
        #expect(created.headerFields[.location] == "/posts/101")
        #expect(try await record("posts/101").fields["title"] as? String == "x")
        #expect(try await record("posts/101").tag == created.headerFields[.etag])
        #expect(try await list("posts?userId=7").count == 11)
        _ = try await fetcher.fetch(request("posts/101", method: .delete))
        #expect(try await fetcher.fetch(request("posts/101")).status == .notFound)
        let next = try await fetcher.fetch(request("posts", method: .post, body: "{}"))
        #expect(next.headerFields[.location] == "/posts/102")
        // Another sample has records of its own.
        #expect(try await SampleDataFetcher().fetch(request("posts/102")).status == .notFound)
    }

    @Test func commentsBelongToTheirPost() async throws {
        #expect(try await list("comments?postId=100").count == 2)
        let created = try await fetcher.fetch(request("posts/100/comments", method: .post, body: #"{"body":"x"}"#))
        #expect(created.status == .created)
        #expect(try await list("comments?postId=100").compactMap { $0["id"] as? Int } == [199, 200, 201])
        #expect(
            try await fetcher.fetch(request("posts/999/comments", method: .post, body: "{}")).status == .notFound
        )
    }

    @Test func patchChangesFieldsAndPutReplacesThem() async throws {
        let patched = try await fetcher.fetch(request("posts/5", method: .patch, body: #"{"title":"x","id":9}"#))
        #expect(patched.status == .ok)
        let (fields, tag) = try await record("posts/5")
        #expect(fields["title"] as? String == "x")
        #expect(fields["id"] as? Int == 5)
        #expect(fields["body"] != nil)
        #expect(tag == patched.headerFields[.etag])
        _ = try await fetcher.fetch(request("posts/5", method: .put, body: #"{"title":"y"}"#))
        #expect(try await record("posts/5").fields.keys.sorted() == ["id", "title"])
        #expect(try await record("posts/5").tag != tag)
    }

    @Test func changeOfAnotherVersionIsRefused() async throws {
        let first = try #require(try await record("posts/5").tag)
        var change = try request("posts/5", method: .patch, body: #"{"title":"x"}"#)
        change.headerFields[.ifMatch] = first
        #expect(try await fetcher.fetch(change).status == .ok)
        #expect(try await fetcher.fetch(change).status == 412)
        var deletion = try request("posts/5", method: .delete)
        deletion.headerFields[.ifMatch] = first
        #expect(try await fetcher.fetch(deletion).status == 412)
        deletion.headerFields[.ifMatch] = try await record("posts/5").tag
        #expect(try await fetcher.fetch(deletion).status == .ok)
    }

    @Test func unchangedRecordIsNotSentAgain() async throws {
        var reading = try request("posts/5")
        reading.headerFields[.ifNoneMatch] = try await record("posts/5").tag
        let response = try await fetcher.fetch(reading)
        #expect(response.status == .notModified)
        #expect(response.body.isEmpty)
    }

    @Test func impossibleWritesAreRefused() async throws {
        for path in ["posts", "posts/1/comments"] {
            #expect(try await fetcher.fetch(request(path, method: .post, body: "[]")).status == 400)
            #expect(try await fetcher.fetch(request(path, method: .post)).status == 400)
        }
        #expect(try await fetcher.fetch(request("posts/1", method: .put, body: "1")).status == 400)
        #expect(try await fetcher.fetch(request("posts/101", method: .patch, body: "{}")).status == .notFound)
        #expect(try await fetcher.fetch(request("posts/one", method: .patch, body: "{}")).status == .notFound)
        #expect(try await fetcher.fetch(request("users", method: .post, body: "{}")).status == .methodNotAllowed)
        #expect(try await fetcher.fetch(request("posts", method: .delete)).status == .methodNotAllowed)
        #expect(try await fetcher.fetch(request("avatars/1.jpg", method: .delete)).status == .methodNotAllowed)
    }

    @Test func listHasALimit() async throws {
        for _ in 100..<1_000 { _ = try await fetcher.fetch(request("posts", method: .post, body: "{}")) }
        #expect(try await fetcher.fetch(request("posts", method: .post, body: "{}")).status == 507)
        #expect(try await list("posts").count == 1_000)
    }
}
