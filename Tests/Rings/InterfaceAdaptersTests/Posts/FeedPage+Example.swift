import Entities
import InwardCore
import UseCases
import UseCasesTesting

extension FeedPage {
    /// Returns a page of posts with these identities and unknown authors.
    static func example(_ ids: some Sequence<Int>, total: Int? = nil, next: Int? = nil) throws -> FeedPage {
        let entries = try ids.map { FeedEntry(post: try .example($0), author: .unknown(User.ID(1))) }
        return FeedPage(
            entries: entries,
            total: total ?? entries.count,
            next: next.map { FeedCursor(after: Post.ID($0)) },
            postsRead: Reading(entries.count, origin: .upstream),
            usersRead: .success(Reading(0, origin: .upstream))
        )
    }
}
