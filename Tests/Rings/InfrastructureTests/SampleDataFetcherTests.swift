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
        let created = Data(#"{"id":101,"title":"x"}"#.utf8)
        let conformance = DataFetcherConformance(
            exchanges: [
                try DataFetcherExchange(request("posts"), DataResponse(headerFields: [json], body: posts.body)),
                try DataFetcherExchange(request("users/1"), DataResponse(headerFields: [json], body: first.body)),
                try DataFetcherExchange(request("users"), DataResponse(headerFields: [json], body: users.body)),
                try DataFetcherExchange(request("users?_limit=0"), DataResponse(body: Data("[]".utf8))),
                try DataFetcherExchange(request("users/11"), DataResponse(status: .notFound, body: Data("{}".utf8))),
                try DataFetcherExchange(
                    request("posts", method: .post, body: #"{"title":"x"}"#),
                    DataResponse(status: .created, headerFields: [json], body: created)
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

    @Test func writingChangesNothing() async throws {
        _ = try await fetcher.fetch(request("posts", method: .post, body: "{}"))
        #expect(try await list("posts").count == 100)
        #expect(try await fetcher.fetch(request("posts", method: .post, body: "[]")).status == 400)
        #expect(try await fetcher.fetch(request("posts", method: .post)).status == 400)
        #expect(try await fetcher.fetch(request("users", method: .post, body: "{}")).status == .methodNotAllowed)
        #expect(try await fetcher.fetch(request("posts", method: .delete)).status == .methodNotAllowed)
    }
}
