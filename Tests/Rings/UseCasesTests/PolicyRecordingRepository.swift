import Entities
import InwardCore
import Synchronization
import UseCases

/// An empty repository of users and posts that records the policy of each read.
final class PolicyRecordingRepository: UserRepository, EditablePostRepository {
    private let recorded = Mutex<[ReadPolicy]>([])

    var policies: [ReadPolicy] { recorded.withLock(\.self) }

    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        recorded.withLock { $0.append(policy) }
        return Reading([], origin: .memory)
    }

    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        recorded.withLock { $0.append(policy) }
        throw RepositoryError(.notFound, request: "user \(id)", explanation: "is not here")
    }

    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        recorded.withLock { $0.append(policy) }
        return Reading([], origin: .memory)
    }

    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await posts(policy)
    }

    func post(_ id: Post.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Post> {
        recorded.withLock { $0.append(policy) }
        throw RepositoryError(.notFound, request: "post \(id)", explanation: "is not here")
    }

    func update(
        _ id: Post.ID,
        _ change: @escaping @Sendable (inout Post) -> Void
    ) async throws(RepositoryError) -> Reading<Post> {
        throw RepositoryError(.notFound, request: "post \(id)", explanation: "is not here")
    }

    func delete(_ id: Post.ID, if condition: @escaping @Sendable (Post) -> Bool) async throws(RepositoryError) {}

    func prepareToPublish(_ draft: PostDraft) async throws(RepositoryError) -> any PreparedChange {
        throw RepositoryError(.refused, request: "a post", explanation: "is not prepared here")
    }

    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        Reading(draft.published(as: Post.ID(1)), origin: .memory)
    }
}
