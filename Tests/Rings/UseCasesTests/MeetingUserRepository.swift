import Entities
import InwardCore
import InwardTesting
import UseCases

/// Users that are given when somebody else has been asked too.
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
