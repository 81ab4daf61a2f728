import Entities
import InwardCore
import UseCases

/// A post repository that can be read, and in which every write fails.
struct UnwritablePostRepository: PostRepository {
    let failure: RepositoryError

    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        Reading([], origin: .memory)
    }

    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        Reading([], origin: .memory)
    }

    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        throw failure
    }

    func prepareToPublish(_ draft: PostDraft) async throws(RepositoryError) -> any PreparedChange {
        throw failure
    }
}
