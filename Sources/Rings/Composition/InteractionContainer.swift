import InterfaceAdapters
public import InwardCore
public import InwardRepositories
public import InwardScopes
import UseCases

/// A container that lives while a user works with one feature, and creates an interaction for each operation.
///
/// ```swift
/// let page = try await feed.withInteraction(within: .seconds(5)) { try await $0.readFeed(FeedQuery()) }
/// ```
///
/// To implement one, read <doc:AddingFeatures>.
public protocol FeatureContainer: Container where Level == FeatureLifetime {
    /// The type of the interactions that the feature creates.
    associatedtype Interactions: InteractionContainer

    /// Opens an interaction that the caller closes. Prefer ``withInteraction(id:within:_:)``, which closes it.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request; `nil` for a sequential number.
    ///   - limit: The time limit, from now on; `nil` for the configured limit.
    /// - Returns: The interaction, which the caller closes.
    /// - Throws: A `ScopeError` if the feature is closed.
    func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> Interactions
}

extension FeatureContainer {
    /// Opens an interaction with a sequential number as its identifier and the configured time limit.
    ///
    /// - Throws: A `ScopeError` if the feature is closed.
    public func makeInteraction() throws(ScopeError) -> Interactions {
        try makeInteraction(id: nil, within: nil)
    }

    /// Opens an interaction, runs a closure with it, and closes the interaction, even if the closure throws.
    ///
    /// Closing the feature, or a scope around it, cancels the closure and waits until it has ended.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request; `nil` for a sequential number.
    ///   - limit: The time limit, from now on, after which the closure is cancelled; `nil` for the configured limit.
    ///   - body: The work to do with the interaction. Its task carries the deadline.
    /// - Returns: The value that `body` returns.
    /// - Throws: A `ScopeError` if the feature is closed, a `DeadlinePassedError` if the time limit passes, or the error that
    ///   `body` throws.
    @inlinable
    public func withInteraction<Value: Sendable>(
        id: InteractionID? = nil,
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (Interactions) async throws -> Value
    ) async throws -> Value {
        let interaction = try makeInteraction(id: id, within: limit)
        let errorHandler = try interaction.scope.objects().errorHandler
        let ending = await Result(awaiting: { () async throws(ScopeError) in try await interaction.perform(body) })
        do {
            try await interaction.close()
        } catch {
            // The work is done, so its result counts. Throwing this error would make callers repeat the work.
            errorHandler.handle(error)
        }
        guard let result = try ending.get() else { throw DeadlinePassedError(interaction.scope.title) }
        return try result.get()
    }
}

/// A container that lives for one request or one command.
///
/// ```swift
/// let interaction = try feed.makeInteraction()
/// let result = try await interaction.perform { try await $0.readFeed() }
/// try await interaction.close()
/// let page = try result?.get()  // `nil` if the deadline passed first.
/// ```
///
/// It creates use cases with the repositories of the session. Run them in ``perform(_:)``, as `withInteraction` does: it
/// cancels them when the interaction closes or its deadline passes. Elsewhere, only closing the session cancels their requests.
public protocol InteractionContainer: Container where Level == InteractionLifetime, Objects == Interaction {}

extension InteractionContainer {
    /// The identifier of the interaction, which is the name of its scope.
    @inlinable public var id: InteractionID { InteractionID(scope.name) }

    /// The user's upstream. It answers until the interaction's deadline passes or its scope closes.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var upstream: Upstream {
        get throws(ScopeError) {
            let interaction = try scope.objects()
            return interaction.upstream.asked(
                through: ScopedDataFetcher(scope, until: interaction.deadline) { $0.upstream.dataFetcher }
            )
        }
    }

    /// Runs work in the interaction's scope, bounded by its deadline. The task carries the deadline and the identifier.
    ///
    /// - Returns: The result of the work; `nil` if the deadline passed first.
    /// - Throws: A `ScopeError` if the interaction is closed before the work has ended.
    @inlinable
    public func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (Self) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value, Failure>? {
        try await scope.run(by: { $0.deadline }) { _ async throws(Failure) in
            let result = await InteractionID.$current.withValue(id) {
                await Result(awaiting: { () async throws(Failure) in try await work(self) })
            }
            return try result.get()
        }
    }
}

extension InteractionContainer {
    /// The session's user repository. It answers while the interaction is open.
    var users: any EditableUserRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedUserRepository(scope: scope)
        }
    }

    /// The session's post repository. It answers while the interaction is open.
    var posts: any EditablePostRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedPostRepository(scope: scope)
        }
    }
}

/// The objects of an interaction.
///
/// ```swift
/// struct AuthorsInteraction: InteractionContainer {
///     let scope: Scope<InteractionLifetime, Interaction>
/// }
/// ```
public struct Interaction: Sendable {
    let session: UserContainer.Objects
    @usableFromInline let deadline: Deadline

    /// The titles that are being published, shared by all sessions of the app.
    var titlesUnderWay: TitleReservations { session.interactionParts.titlesUnderWay }
    /// Receives failures that no caller receives.
    @usableFromInline var errorHandler: any ErrorHandler { session.interactionParts.errorHandler }
    /// The upstream, with the user's credentials.
    var upstream: Upstream { session.upstream }
    var users: Result<UpstreamUserRepository, RepositoryError> { session.users }
    var posts: Result<UpstreamPostRepository, RepositoryError> { session.posts }
    /// Commits changes of both repositories; `nil` if the session has no outbox.
    var unitOfWork: RecordUnitOfWork? { session.outbox.map { RecordUnitOfWork(outbox: $0) } }
    /// Keeps the sorted list of users, shared by all interactions of the session.
    var userOrder: UserOrder { session.userOrder }
}

/// What the interactions of all sessions share. Each session keeps them, because copying the app's objects for each
/// interaction takes longer than creating the interaction.
struct InteractionParts: Sendable {
    let titlesUnderWay: TitleReservations
    let errorHandler: ReplaceableErrorHandler
    let numbers: InteractionNumbers
    let timeLimit: Duration
    let timer: TimerService

    init(_ app: AppContainer.Objects) {
        titlesUnderWay = app.titlesUnderWay
        errorHandler = app.errorHandler
        numbers = app.interactionNumbers
        timeLimit = app.configuration.timeLimit
        timer = app.timer
    }
}
