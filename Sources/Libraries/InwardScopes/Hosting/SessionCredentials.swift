import InwardCore
public import InwardFetching
public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The credentials that a session sends to its upstreams. No other server receives them.
///
/// ```swift
/// let credentials = SessionCredentials.refreshing {
///     // Ask the token endpoint of your service here.
///     .bearer("a new token", expiresIn: .seconds(3_600))
/// }
/// let session = try await app.signIn(as: "ada", credentials: credentials)
/// ```
///
/// Each session obtains its own credentials. To share a token among a user's sessions, let the closure return the same one.
///
/// The credentials are for the app's standard upstream. Add credentials for other upstreams with ``adding(_:for:)``.
public struct SessionCredentials: Sendable {
    private typealias Make = @Sendable (URL, AppScopeConfiguration, TimerService) -> Credentials

    private var makers: [UpstreamName: Make] = [:]

    /// Sends no credentials. The session is a guest's: its stored responses and pending writes are separate from those of a
    /// user with the same name who has credentials.
    public static let none = Self()

    /// Sends a header field that does not change, such as `HeaderField.bearer(token)`.
    public static func fixed(_ field: HeaderField) -> Self {
        Self { url, configuration, _ in
            Credentials(field, for: url, allowingPlainHTTP: configuration.allowsCredentialsOverPlainHTTP)
        }
    }

    /// Obtains a credential before the first request. Renews it before it expires, and when the upstream answers 401.
    ///
    /// Concurrent requests share one renewal. Writes that wait in the outbox because the upstream rejected the credentials are
    /// sent after the renewal. If `renew` returns `nil`, the session closes by itself.
    ///
    /// - Parameters:
    ///   - interval: The minimum time from the end of a renewal, successful or not, to the start of the next. The default is 10
    ///     seconds. For a short-lived credential, and after a failure while the credential is still valid, the time is shortened
    ///     to as little as one second.
    ///   - limit: How long a renewal may take. The default is 30 seconds. When the limit passes, the renewal's task is
    ///     cancelled. The renewal fails once the task has ended.
    ///   - renew: Returns a new credential, for example from a token endpoint, or `nil` if the user has to sign in again, for
    ///     example because consent was withdrawn. If it throws, the waiting requests fail without being sent, and the error
    ///     handler receives the error. Its task has a deadline, and is cancelled when the session closes.
    /// - Returns: The credentials.
    public static func refreshing(
        atMostEvery interval: Duration = Credentials.standardRenewalInterval,
        within limit: Duration = Credentials.standardRenewalLimit,
        _ renew: @escaping @Sendable () async throws -> Credential?
    ) -> Self {
        Self { url, configuration, timer in
            Credentials(
                for: url,
                allowingPlainHTTP: configuration.allowsCredentialsOverPlainHTTP,
                renewingAtMostEvery: interval,
                limitingRenewalsTo: limit,
                timer: timer,
                executor: timer.executor,
                renewing: renew
            )
        }
    }

    /// Returns these credentials together with credentials for another upstream.
    ///
    /// ```swift
    /// let credentials = SessionCredentials.fixed(.bearer(token))
    ///     .adding(.fixed(.bearer("a search token")), for: UpstreamName("search"))
    /// ```
    ///
    /// - Parameters:
    ///   - credentials: The credentials for the other upstream. Only their part for the standard upstream is used.
    ///   - upstream: The name of the upstream. If the app has no upstream with this name, the credentials are ignored.
    /// - Returns: The credentials for all upstreams.
    public func adding(_ credentials: SessionCredentials, for upstream: UpstreamName) -> Self {
        var all = self
        all.makers[upstream] = credentials.makers[.standard]
        return all
    }

    private init() {}

    private init(_ make: @escaping Make) {
        makers = [.standard: make]
    }

    /// Whether there are no credentials for any upstream.
    var areNone: Bool { makers.isEmpty }

    /// Creates the credentials for an upstream. Returns `nil` if there are none.
    func make(
        for hosted: HostedUpstream,
        _ configuration: AppScopeConfiguration,
        _ timer: TimerService
    ) -> Credentials? {
        makers[hosted.name]?(hosted.upstream.baseURL, configuration, timer)
    }
}

extension Credentials {
    /// Connects the credentials to their session: renewals resume the outbox, failures go to the error handler, and a final
    /// refusal closes the session.
    func tell<Objects>(
        _ outbox: (any RepositoryOutbox)?,
        _ errorHandler: any ErrorHandler,
        closing scope: Scope<SessionLifetime, Objects>
    ) {
        if let outbox { whenRenewed { [weak outbox] in outbox?.retryDenied() } }
        whenRenewalFails { errorHandler.handle($0) }
        // Weak, because the session's objects hold the credentials.
        whenRefused { [weak scope] in
            guard let scope else { return }
            errorHandler.handle(SignedOutError(session: scope.title))
            let closing = scope.startClosing()
            // Unstructured, because closing waits for the work of the session, and the request that was refused is part of it.
            // The task ends when the session is closed, which has limits of its own.
            Task {
                let failures = await closing.value
                if !failures.isEmpty { errorHandler.handle(ScopeCloseError(failures: failures)) }
            }
        }
    }
}

/// An error reported when a session has closed because its credentials cannot be renewed. The user has to sign in again.
///
/// ```swift
/// configuration.errorHandler = IgnoringErrorHandler().notifying { error in
///     if let error = error as? SignedOutError { print("Ask the user of \(error.session) to sign in.") }
/// }
/// ```
public struct SignedOutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The session, such as `session ada`.
    public let session: String

    /// The cause and what to do, in sentences without a final period.
    public var description: String {
        "\(session) was closed, because its credentials are no longer valid and cannot be renewed. Sign in again"
    }
}
