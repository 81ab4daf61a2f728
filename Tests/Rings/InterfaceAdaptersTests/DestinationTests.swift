import Entities
import InterfaceAdapters
import InwardTesting
import Testing
import UseCases

struct DestinationTests {
    private func cursor(_ post: Int) -> FeedCursor { FeedCursor(after: Post.ID(post)) }

    @Test func eachDestinationHasItsPath() {
        let destinations: [Destination] = [
            .users, .user(User.ID(7)), .posts(by: User.ID(7), after: nil), .posts(by: User.ID(7), after: cursor(61)),
            .feed(after: nil), .feed(after: cursor(61)),
        ]
        let paths = ["users", "users/7", "users/7/posts", "users/7/posts/after/61", "posts", "posts/after/61"]
        #expect(destinations.map(\.description) == paths)
        #expect(paths.map(Destination.init) == destinations)
    }

    @Test func destinationIsParsedFromItsPath() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SplitMix64(seed: seed)
        let edges = [Int.min, -1, 0, 1, Int.max]
        for round in 0..<2_000 {
            let user = User.ID(
                edges.indices.contains(round) ? edges[round] : .random(in: .min ... .max, using: &generator)
            )
            let place = cursor(edges.randomElement(using: &generator) ?? 0)
            let anywhere = cursor(.random(in: .min ... .max, using: &generator))
            for destination: Destination in [
                .user(user), .posts(by: user, after: nil), .posts(by: user, after: place),
                .posts(by: user, after: anywhere), .feed(after: place), .feed(after: anywhere),
            ] {
                #expect(Destination(destination.description) == destination, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [
        "", "/", "/users", "users/", "users//", "users/x", "users/+7", "users/07", "users/-0", "users/7/", "users/7.0",
        "users/٧", "users/ 7", "users/9223372036854775808", "users/7/post", "users/7/posts/", "users/7/posts/after",
        "users/7/posts/after/", "users/7/posts/after/x", "users/7/posts/after/01", "users/7/posts/61",
        "users/7/posts/after/61/", "users/7/posts/before/61", "users/after/61", "Users", "users\n", "users?x", "posts/",
        "posts/7", "posts/after", "posts/after/", "posts/after/x", "posts/after/61/2", "posts//after/61", "feed", "..",
    ])
    func invalidPathIsNotADestination(path: String) {
        #expect(Destination(path) == nil)
    }
}
