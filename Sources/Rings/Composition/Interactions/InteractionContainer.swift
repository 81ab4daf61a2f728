import InterfaceAdapters
import InwardCore
public import InwardRepositories
public import InwardScopes
import Synchronization
import UseCases

/// A container that lives as long as one request or one command.
public protocol InteractionContainer: Container where Level == InteractionLifetime, Objects == Interaction {}

extension InteractionContainer {
    /// What tells this interaction from others; the name of its scope.
    public var id: InteractionID { InteractionID(scope.name) }

    /// What the interaction's repositories ask: the user's upstream, until the deadline or the end of the scope.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var upstream: Upstream {
        get throws(ScopeError) {
            let interaction = try scope.objects()
            return interaction.upstream.asked(
                through: ScopedDataFetcher(scope: scope, deadline: interaction.deadline) { $0.upstream.dataFetcher }
            )
        }
    }

    /// Does what the interaction is for, as work of its scope and by its deadline, which travels with the task.
    ///
    /// - Returns: how that ended; `nil` if the deadline passed first.
    /// - Throws: a `ScopeError` if the interaction is closed, or was closed without waiting for the end.
    public func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (Self) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value, Failure>? {
        let result = try await scope.run { interaction in
            await interaction.deadline.bound { () async throws(Failure) in try await work(self) }
        }
        return switch result {
        case .success(let ending): ending
        }
    }
}

extension InteractionContainer {
    /// The users, as long as the interaction is open.
    var users: any UserRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedUserRepository(scope: scope)
        }
    }

    /// The posts, as long as the interaction is open.
    var posts: any PostRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedPostRepository(scope: scope)
        }
    }
}

/// What every interaction holds.
public struct Interaction: Sendable {
    /// The upstream as the user asks it.
    let upstream: Upstream
    /// The users, and what the session knows of them.
    let users: UpstreamUserRepository
    /// The posts, and what the session knows of them.
    let posts: UpstreamPostRepository
    /// The titles that are being published, with all who publish.
    let titlesUnderWay: TitleReservations
    /// Who hears of what no caller is told.
    let errorHandler: any ErrorHandler
    /// By when the interaction has to be answered.
    let deadline: Deadline
}

/// What tells an interaction from others: the identifier that came with a request, or else a number.
public struct InteractionID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as text.
    public let description: String

    /// Takes over the identifier of a request.
    public init(_ description: String) {
        self.description = description
    }
}

/// Numbers the interactions of an app that bring no identifier of their own.
final class InteractionNumbers: Sendable {
    private let last = Atomic(0)

    /// The next number, as an identifier.
    func next() -> InteractionID {
        InteractionID("\(last.add(1, ordering: .relaxed).newValue)")
    }
}
