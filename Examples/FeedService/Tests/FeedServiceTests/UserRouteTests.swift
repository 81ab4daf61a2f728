import HTTPTypes
import HummingbirdTesting
import Testing

@testable import FeedService

struct UserRouteTests {
    @Test func usersAreListedByName() async throws {
        try await FeedStage().serving { client in
            let response = try await client.get("/api/users")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "application/json; charset=utf-8")
            let users = try #require(try response.object["users"] as? [[String: Any]])
            let names = users.compactMap { $0["name"] as? String }
            #expect(names.count == 10 && names == names.sorted())
        }
    }

    @Test func userIsShownWithEverythingThatIsKnown() async throws {
        try await FeedStage().serving { client in
            let user = try await client.get("/api/users/7").object
            #expect(user["id"] as? Int == 7)
            #expect(
                Set(user.keys) == [
                    "id", "name", "username", "email", "phone", "website", "address", "company",
                ]
            )
            let address = try #require(user["address"] as? [String: Any])
            #expect(Set(address.keys) == ["street", "suite", "city", "zipcode", "latitude", "longitude"])
        }
    }

    @Test func postsOfAUserAreListedFromTheNewest() async throws {
        try await FeedStage().serving { client in
            let posts = try #require(try await client.get("/api/users/7/posts").object["posts"] as? [[String: Any]])
            let ids = posts.compactMap { $0["id"] as? Int }
            #expect(ids.count == 10 && ids == ids.sorted(by: >))
            #expect(posts.allSatisfy { $0["authorID"] as? Int == 7 })
        }
    }

    @Test func unknownUserIsNotFound() async throws {
        try await FeedStage().serving { client in
            for path in ["/api/users/99", "/api/users/99/posts"] {
                let detail = try await client.problem(404, at: path)
                #expect(detail == "There is no user 99.")
            }
            for path in [
                "/api/users/seven", "/api/users/7.0", "/api/users/07", "/api/users/+7",
                "/api/users/99999999999999999999/posts",
            ] {
                let detail = try await client.problem(404, at: path)
                #expect(detail == "A user ID is a number.")
            }
        }
    }
}
