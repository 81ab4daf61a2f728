import Entities
import InterfaceAdapters
import InwardCore
import InwardScopes
import UseCases

/// The users as a session knows them, for an interaction.
///
/// It holds the scope and not the scope's objects, so keeping it keeps nothing else alive.
struct ScopedUserRepository: UserRepository {
    let scope: Scope<InteractionLifetime, Interaction>

    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await scope.asking("The list of users") { interaction async throws(RepositoryError) in
            try await interaction.users.users(policy)
        }
    }

    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        try await scope.asking("User \(id)") { interaction async throws(RepositoryError) in
            try await interaction.users.user(id, policy)
        }
    }
}
