import Entities
import InwardCore
import InwardTesting
import UseCases

/// A user repository that answers only when another participant has arrived at the rendezvous, which proves concurrency.
struct MeetingUserRepository: UserRepository {
    let base: any UserRepository
    let meeting: Rendezvous

    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        await meeting.arrive()
        return try await base.users(policy)
    }

    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        await meeting.arrive()
        return try await base.user(id, policy)
    }
}
