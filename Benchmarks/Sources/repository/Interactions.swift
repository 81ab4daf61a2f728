import Composition
import InterfaceAdapters
import InwardFetching
import InwardScopes
import Measuring
import UseCases

/// Measures the cost of an interaction: opening and closing its scope, and running work that reads nothing.
func measureInteractions() async throws {
    let app = try await AppContainer(dataFetcher: Source())
    let user = try await UserContainer(UserSession(name: "Ada", credentials: .bearer("token")), in: app)
    let users = try UsersContainer(in: user, router: PathRouter(root: "/"))
    let rows = [
        (
            "the scope of an interaction, opened and closed",
            try await Measurement {
                let interaction = try users.makeInteraction(id: nil, within: .seconds(5))
                try await interaction.close()
            }
        ),
        (
            "`withInteraction` around work that does nothing",
            try await Measurement { _ = try await users.withInteraction(within: .seconds(5)) { $0.id } }
        ),
        (
            "`withInteraction` around `ListUsers` from memory",
            try await Measurement {
                _ = try await users.withInteraction(within: .seconds(5)) { try await $0.listUsers() }
            }
        ),
    ]
    print("| an interaction | ns | elapsed | allocations |\n|---|---|---|---|")
    for (name, cost) in rows {
        print("| \(name) | \(Int(cost.nanoseconds)) | \(Int(cost.elapsed)) | \(cost.allocations) |")
    }
    try await user.close()
    try await app.close()
}
