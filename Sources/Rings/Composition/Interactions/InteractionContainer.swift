import InterfaceAdapters
import InwardCore
public import InwardRepositories
public import InwardScopes
import Synchronization
import UseCases

/// A container that lives for one request or one command.
///
/// It creates use cases over what the session shares. Run them in ``perform(_:)``, or open the interaction with
/// ``FeatureContainer/withInteraction(id:within:_:)``, which does: there they end with the interaction, and by its deadline.
/// Elsewhere, requests in flight end with the session.
public protocol InteractionContainer: Container where Level == InteractionLifetime, Objects == Interaction {}

extension InteractionContainer {
    /// The identifier of the interaction, which is the name of its scope.
    public var id: InteractionID { InteractionID(scope.name) }

    /// The user's upstream, which answers until the interaction's deadline passes or its scope closes.
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

    /// Runs the interaction's work in its scope, bounded by its deadline. The work's task carries the deadline.
    ///
    /// - Returns: the result of the work; `nil` if the deadline passed first.
    /// - Throws: a `ScopeError` if the interaction is closed, or if it was closed before the work had ended.
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
    /// The session's user repository, which answers while the interaction is open.
    var users: any UserRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedUserRepository(scope: scope)
        }
    }

    /// The session's post repository, which answers while the interaction is open.
    var posts: any PostRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedPostRepository(scope: scope)
        }
    }
}

/// The objects of an interaction.
public struct Interaction: Sendable {
    /// The upstream, with the user's credentials.
    let upstream: Upstream
    /// The user repository of the session.
    let users: UpstreamUserRepository
    /// The post repository of the session.
    let posts: UpstreamPostRepository
    /// The titles that are being published, shared by all sessions of the app.
    let titlesUnderWay: TitleReservations
    /// Receives failures that no caller receives.
    let errorHandler: any ErrorHandler
    /// The time by which the interaction must complete.
    let deadline: Deadline
}

/// The identifier of an interaction: that of the request, or a sequential number.
public struct InteractionID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as text.
    public let description: String

    /// Creates an identifier from that of a request.
    public init(_ description: String) {
        self.description = description
    }
}

/// Numbers the interactions of an app that have no identifier of their own.
final class InteractionNumbers: Sendable {
    private let last = Atomic(0)

    /// Returns the next number as an identifier.
    func next() -> InteractionID {
        InteractionID("\(last.add(1, ordering: .relaxed).newValue)")
    }
}
