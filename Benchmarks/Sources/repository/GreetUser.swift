import Entities
import InwardCore
import UseCases

/// A use case of an application: greeting a user.
struct GreetUser {
    let users: any UserRepository

    func callAsFunction(_ id: User.ID) async throws(RepositoryError) -> Reading<String> {
        try await users.user(id, .cacheFirst).map { user throws(RepositoryError) in user.name }
    }
}
