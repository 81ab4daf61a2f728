import Entities
import InwardCore
import UseCases

/// A use case of a team's own: how a user is greeted.
struct GreetUser {
    let users: any UserRepository

    func callAsFunction(_ id: User.ID) async throws(RepositoryError) -> Reading<String> {
        try await users.user(id, .cacheFirst).map { user throws(RepositoryError) in user.name }
    }
}
