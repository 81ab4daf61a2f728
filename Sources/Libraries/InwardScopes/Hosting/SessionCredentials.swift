import InwardCore
public import InwardFetching
public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The credentials that a session sends to the upstream of its app, and nowhere else.
///
///     let credentials = SessionCredentials.refreshing {
///         let token = try await tokens.next()
///         return .bearer(token.text, expiresIn: .seconds(token.expiresIn))
///     }
///     let session = try await app.signIn(as: "ada", credentials: credentials)
///
/// Each session obtains credentials of its own. To share a token among a user's sessions, share it in the closure.
///
/// They are for the app's standard upstream. Others have credentials of their own, or none:
///
///     let credentials = SessionCredentials.fixed(.bearer(token)).adding(.fixed(searchKey), for: .search)
public struct SessionCredentials: Sendable {
    private typealias Make = @Sendable (URL, AppScopeConfiguration, TimerService) -> Credentials

    private var makers: [UpstreamName: Make] = [:]

    /// Sends no credentials. What such a session stores, and its pending writes, are apart from those of a user of the same name
    /// who signed in.
    public static let none = Self()

    /// Sends a header field that does not change, such as `HeaderField.bearer(token)`.
    public static func fixed(_ field: HeaderField) -> Self {
        Self { url, configuration, _ in
            Credentials(
                field,
                for: url,
                allowingPlainHTTP: configuration.allowsCredentialsOverPlainHTTP
            )
        }
    }

    /// Obtains a credential before the first request, and another one before it expires, or when the upstream no longer accepts
    /// it (401).
    ///
    /// However many requests wait for it, it is renewed once. Writes that wait in the outbox because the upstream rejected the
    /// credentials are sent when it accepts the new ones. If there will be no others, the session closes by itself.
    ///
    /// - Parameters:
    ///   - interval: The minimum time from the end of a renewal to the next one, whether or not it succeeded; at most half of
    ///     the lifetime of a credential, and less after a renewal that fails before the credential expires, but not less than a
    ///     second because of that.
    ///   - limit: How long a renewal may take. Its task is then cancelled, and the renewal fails when it has ended.
    ///   - renew: Returns a new credential, for example from a token endpoint; `nil` if there will be no other, for example
    ///     because the user's consent was withdrawn. If it throws, the requests that wait for it are not sent, and their errors
    ///     tell why; the error handler receives the error itself. Its task carries a deadline, and is cancelled when the session
    ///     closes.
    /// - Returns: the credentials.
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

    /// Returns these credentials, with others for another upstream of the app. They are not used if the app has none of this name.
    ///
    /// - Parameters:
    ///   - credentials: The credentials, as for an app with this upstream alone.
    ///   - upstream: The name of the upstream.
    /// - Returns: the credentials for all upstreams.
    public func adding(_ credentials: SessionCredentials, for upstream: UpstreamName) -> Self {
        var all = self
        all.makers[upstream] = credentials.makers[.standard]
        return all
    }

    private init() {}

    private init(_ make: @escaping Make) {
        makers = [.standard: make]
    }

    /// Whether there are none for any upstream.
    var areNone: Bool { makers.isEmpty }

    /// Returns new credentials for an upstream; `nil` if it is sent none.
    func make(
        for hosted: HostedUpstream,
        _ configuration: AppScopeConfiguration,
        _ timer: TimerService
    ) -> Credentials? {
        makers[hosted.name]?(hosted.upstream.baseURL, configuration, timer)
    }
}

extension Credentials {
    /// Lets the session of these credentials follow what becomes of them.
    func tell<Objects>(
        _ outbox: Outbox?,
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
            // Unstructured, because the request that found it out is work of the session, which closing waits for. It ends with the
            // closing, which has limits of its own.
            Task {
                let failures = await closing.value
                if !failures.isEmpty { errorHandler.handle(ScopeCloseError(failures: failures)) }
            }
        }
    }
}

/// A session has closed, because its credentials are not renewed any more. The user has to sign in again.
public struct SignedOutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The session, such as `session ada`.
    public let session: String

    /// What happened and what to do, as a sentence without its full stop.
    public var description: String {
        "\(session) was closed, because its credentials are no longer valid and there are no others; sign in again"
    }
}
