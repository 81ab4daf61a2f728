import Composition
import InterfaceAdapters
import Testing

/// Where the work of an interaction runs.
@Suite(.timeLimit(.minutes(5)))
struct InteractionThreadTests {
    @MainActor @Test func workStartsOnTheThreadOfItsCallerAndContinuesElsewhere() async throws {
        #expect(MainQueue.isCurrent)
        let user = try await UserContainer(.guest, in: .example())
        let users = try UsersContainer(in: user, router: NullRouter())
        let (startsHere, continuesHere) = try await users.withInteraction { _ in
            let startsHere = MainQueue.isCurrent
            await Task.yield()
            return (startsHere, MainQueue.isCurrent)
        }
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) { #expect(startsHere) }
        #expect(!continuesHere)
        #expect(MainQueue.isCurrent)
    }
}
