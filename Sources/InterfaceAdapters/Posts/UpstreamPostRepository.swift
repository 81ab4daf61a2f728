public import Entities
public import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Gets and publishes posts at an upstream that keeps them as JSON: a list at `posts`, one author's at `posts?userId=7`,
/// and takes new ones by `POST`.
public struct UpstreamPostRepository: PostRepository {
    private let upstream: Upstream

    /// Makes a repository of the posts that an upstream has.
    public init(upstream: Upstream) {
        self.upstream = upstream
    }

    /// All posts in the upstream's order, without the damaged records, which the reading names.
    ///
    /// - Complexity: O(n) in the size of the answer.
    /// - Throws: a `RepositoryError` if the upstream has no list to give.
    public func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await upstream.list(PostDTO.self, path: "posts", policy)
    }

    /// The posts of one author in the upstream's order, without the damaged records, which the reading names.
    ///
    /// - Complexity: O(n) in the size of the answer.
    /// - Throws: a `RepositoryError` if the upstream has no list to give.
    public func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        let filter = [URLQueryItem(name: "userId", value: author.description)]
        let reading = try await upstream.list(PostDTO.self, path: "posts", query: filter, policy)
        // An upstream that does not know the filter answers with everybody's posts.
        return reading.map { posts in posts.filter { $0.authorID == author } }
    }

    /// Publishes a draft, sent once, under the identity that the upstream gives.
    ///
    /// - Throws: a `RepositoryError`, with `outcomeUnknown` if the draft was sent and no answer tells what became of it.
    public func publish(_ draft: PostDraft) async throws(RepositoryError) -> Post {
        let published = try await upstream.create(PostDraftDTO(draft), path: "posts", answer: PublishedPostDTO.self)
        return draft.published(as: Post.ID(published.id.value))
    }
}
