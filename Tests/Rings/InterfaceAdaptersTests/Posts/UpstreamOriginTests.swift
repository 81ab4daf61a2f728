import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct UpstreamOriginTests {
    @Test(arguments: [Origin.memory, .upstream])
    func readingHasTheOriginOfTheResponse(origin: Origin) async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            let isList = ["users", "posts"].contains(request.url.lastPathComponent)
            var response = DataResponse(body: Data((isList ? "[]" : UserJSON.record()).utf8))
            response.origin = origin
            return response
        }
        let users = UpstreamUserRepository(upstream: try .example(source))
        let posts = UpstreamPostRepository(upstream: try .example(source))
        #expect(try await users.users(.cacheFirst).origin == origin)
        #expect(try await users.user(User.ID(1), .cacheFirst).origin == origin)
        #expect(try await posts.posts(.cacheFirst).origin == origin)
        #expect(try await posts.posts(by: User.ID(1), .cacheFirst).origin == origin)
    }

    @Test func originIsTheUpstreamByDefault() {
        #expect(DataResponse().origin == .upstream)
    }
}
