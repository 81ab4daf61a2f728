import Entities
import InwardCore
import InwardTesting
import UseCases

/// A post repository whose reads answer only when another participant has arrived at the rendezvous, which proves concurrency.
struct MeetingPostRepository: PostRepository {
    let base: any PostRepository
    let meeting: Rendezvous

    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        await meeting.arrive()
        return try await base.posts(policy)
    }

    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        await meeting.arrive()
        return try await base.posts(by: author, policy)
    }

    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try await base.publish(draft)
    }

    func prepareToPublish(_ draft: PostDraft) async throws(RepositoryError) -> any PreparedChange {
        try await base.prepareToPublish(draft)
    }
}
