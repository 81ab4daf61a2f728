import InwardTesting

@testable import Infrastructure

extension InMemoryWebDataFetcher {
    /// Returns a server with the sample's users and posts, and one image.
    static func mirrored() -> InMemoryWebDataFetcher {
        let server = InMemoryWebDataFetcher()
        server["/users"] = PackageResources.users_json
        server["/posts"] = PackageResources.posts_json
        server["/avatars/1.jpg"] = [1, 2, 3]
        return server
    }
}
