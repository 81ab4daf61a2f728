import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import FeedService

/// Whether the description of the API is true.
struct OpenAPITests {
    private func description() async throws -> [String: Any] {
        try await FeedStage().answer("/api/openapi.json").object
    }

    @Test func everyRouteIsDescribedAndEveryDescriptionIsARoute() async throws {
        let paths = try #require(try await description()["paths"] as? [String: [String: Any]])
        let described = paths.flatMap { path, operations in operations.keys.map { "\($0.uppercased()) /api\(path)" } }
        let routes = try await FeedStage().routes.filter { $0.contains(" /api/") && $0 != "GET /api/openapi.json" }
        #expect(Set(described) == Set(routes))
    }

    /// Returns the descriptions of the responses of an operation, by status.
    private func responses(_ method: String, _ path: String) async throws -> [String: [String: Any]] {
        let paths = try #require(try await description()["paths"] as? [String: [String: Any]])
        let operation = try #require(paths[path]?[method] as? [String: Any])
        return try #require(operation["responses"] as? [String: [String: Any]])
    }

    @Test(arguments: ["/posts/{id}", "/posts/{id}/comments", "/comments/{id}"])
    func numberOfWhatWasPendingLeadsToThePresentOne(path: String) async throws {
        let headers = try await responses("get", path)["301"]?["headers"] as? [String: Any]
        #expect(headers?["Location"] != nil)
    }

    @Test(arguments: ["/posts/{id}", "/comments/{id}"])
    func deletionThatIsPendingIsDescribed(path: String) async throws {
        let responses = try await responses("delete", path)
        let isDescribed = responses["202"]?["content"] != nil
        #expect(isDescribed && responses["204"] != nil && responses["204"]?["content"] == nil)
    }

    @Test(arguments: ["/api/users", "/api/users/7", "/api/feed", "/api/openapi.json", "/healthz", "/readyz"])
    func otherMethodsAreRefusedWithThoseThatExist(path: String) async throws {
        try await FeedStage().serving { client in
            for name in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"] {
                let method = try #require(HTTPRequest.Method(name))
                let response = try await client.execute(uri: path, method: method)
                #expect(try response.problem(405).contains("Allow"))
                #expect(response.headers[.allow] == "GET, HEAD")
            }
        }
    }
}
