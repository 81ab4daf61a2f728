import Synchronization
import Testing

@testable import FeedService

struct AnswerCacheTests {
    /// A body that counts how often it is encoded.
    private struct Body: Encodable, Equatable {
        let text: String
        let encoded: Counter

        final class Counter: Sendable, Equatable {
            private let count = Atomic(0)
            var value: Int { count.load(ordering: .relaxed) }
            func add() { count.add(1, ordering: .relaxed) }
            static func == (first: Counter, second: Counter) -> Bool { first === second }
        }

        func encode(to encoder: any Encoder) throws {
            encoded.add()
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    @Test func bodyIsEncodedAgainOnlyAfterAChange() throws {
        let (cache, counter) = (AnswerCache(), Body.Counter())
        for (text, count) in [("a", 1), ("a", 1), ("b", 2), ("b", 2), ("a", 3)] {
            let answer = try cache.answer(Body(text: text, encoded: counter), at: "/feed") { try Answer(json: $0) }
            #expect(answer.size == 3 && counter.value == count)
        }
        _ = try cache.answer(Body(text: "a", encoded: counter), at: "/other") { try Answer(json: $0) }
        #expect(counter.value == 4)
    }

    @Test func sameTargetCanHaveBodiesOfTwoTypes() throws {
        let cache = AnswerCache()
        #expect(try cache.answer(PostsBody(posts: []), at: "/", encoding: { try Answer(json: $0) }).size == 12)
        #expect(try cache.answer(UsersBody(users: []), at: "/", encoding: { try Answer(json: $0) }).size == 12)
        #expect(try cache.answer([String](), at: "/", encoding: { try Answer(json: $0) }).size == 2)
    }
}
