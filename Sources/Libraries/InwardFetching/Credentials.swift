public import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Credentials for one origin: the scheme, host and port of a URL (RFC 6454). Descriptions and reflections do not reveal
/// them.
///
/// Share one instance among all pipelines of the same user, so that a renewal applies to all of them.
///
/// Credentials are sent over HTTPS. Unless you allow it, they are sent over plain HTTP only to this machine (`localhost`,
/// 127.0.0.0/8, `::1`), where nobody else can read them.
///
///     let credentials = Credentials(.bearer(token), for: url)
///     let api = fetcher.authorizing(with: credentials)
public final class Credentials: Sendable {
    /// The default minimum interval between renewals.
    public static let standardRenewalInterval = Duration.seconds(10)

    /// A header field and the number of the renewal that it came from.
    struct Edition {
        let field: HeaderField?
        let number: Int
    }

    /// The newest edition that the origin accepted, and the actions for when it accepts a newer one.
    private struct Acceptance {
        var number = 0
        var actions: [@Sendable () -> Void] = []
    }

    let origin: WebOrigin
    /// Whether the credentials can be renewed.
    let areRenewable: Bool
    /// Whether the credentials may be sent over plain HTTP to another machine.
    let mayBeExposed: Bool
    private let edition: Mutex<Edition>
    private let acceptance = Mutex(Acceptance())
    /// The end of the last renewal, whether or not it succeeded.
    private let lastRenewal = Mutex<Duration?>(nil)
    private let renewalInterval: Duration
    private let timer: TimerService
    private let renew: @Sendable () async throws(FetchError) -> HeaderField
    private let renewals: SingleFlight<Int, Edition?, FetchError>

    /// Creates credentials that do not change.
    ///
    /// - Parameters:
    ///   - field: The header field with the credentials, such as ``HeaderField/bearer(_:)``. It is treated as sensitive
    ///     regardless of its name.
    ///   - url: A URL of the origin that the credentials are for.
    ///   - allowingPlainHTTP: Whether to send the credentials over plain HTTP to another machine, where anyone on the network
    ///     path can read them.
    public convenience init(_ field: HeaderField, for url: URL, allowingPlainHTTP: Bool = false) {
        self.init(
            field,
            WebOrigin(url),
            mayBeExposed: allowingPlainHTTP,
            areRenewable: false,
            interval: .zero,
            timer: .continuous,
            executor: nil
        ) { () throws(FetchError) in field }
    }

    /// Creates credentials that are renewed when the origin no longer accepts them.
    ///
    /// - Parameters:
    ///   - field: The header field with the credentials, such as ``HeaderField/bearer(_:)``; `nil` to obtain them before the
    ///     first request.
    ///   - url: A URL of the origin that the credentials are for.
    ///   - allowingPlainHTTP: Whether to send the credentials over plain HTTP to another machine, where anyone on the network
    ///     path can read them.
    ///   - interval: The minimum time from the end of a renewal to the next one, whether or not it succeeded. An origin that
    ///     accepts no credentials causes one renewal per interval. Requests that it rejects in the meantime fail with 401 at
    ///     once.
    ///   - timer: The source of time.
    ///   - executor: The executor for renewals; `nil` for the default executor.
    ///   - renew: Returns new credentials, for example from a token endpoint. Only one call runs at a time, regardless of the
    ///     number of waiters. Callers' deadlines do not apply to it, so give it its own. All waiters throw the error that it
    ///     throws.
    public convenience init(
        _ field: HeaderField? = nil,
        for url: URL,
        allowingPlainHTTP: Bool = false,
        renewingAtMostEvery interval: Duration = standardRenewalInterval,
        timer: TimerService = .continuous,
        executor: (any TaskExecutor)? = nil,
        renewing renew: @escaping @Sendable () async throws(FetchError) -> HeaderField
    ) {
        self.init(
            field,
            WebOrigin(url),
            mayBeExposed: allowingPlainHTTP,
            areRenewable: true,
            interval: interval,
            timer: timer,
            executor: executor,
            renew
        )
    }

    private init(
        _ field: HeaderField?,
        _ origin: WebOrigin,
        mayBeExposed: Bool,
        areRenewable: Bool,
        interval: Duration,
        timer: TimerService,
        executor: (any TaskExecutor)?,
        _ renew: @escaping @Sendable () async throws(FetchError) -> HeaderField
    ) {
        self.origin = origin
        self.mayBeExposed = mayBeExposed
        self.areRenewable = areRenewable
        renewalInterval = interval
        self.timer = timer
        self.renew = renew
        edition = Mutex(Edition(field: field.map(\.sensitive), number: 0))
        renewals = SingleFlight(whenAbandoned: .finish, executor: executor)
    }

    /// Performs an action each time the origin first accepts renewed credentials, such as sending writes that it had
    /// rejected:
    ///
    ///     credentials.whenRenewed { [weak outbox] in outbox?.retryDenied() }
    ///
    /// The action does not run for new credentials that the origin rejects as well.
    ///
    /// - Parameter action: The action, which runs on the task whose request succeeded. The credentials retain it, so do not
    ///   capture objects that should be released earlier.
    public func whenRenewed(_ action: @escaping @Sendable () -> Void) {
        acceptance.withLock { $0.actions.append(action) }
    }

    /// Records that the origin accepted an edition.
    func noteAccepted(_ edition: Edition) {
        let actions = acceptance.withLock { acceptance -> [@Sendable () -> Void] in
            guard edition.number > acceptance.number else { return [] }
            acceptance.number = edition.number
            return acceptance.actions
        }
        for action in actions { action() }
    }

    /// The newest edition.
    var newest: Edition { edition.withLock(\.self) }

    /// Returns the credentials that replace an edition which the origin rejected: newer ones if they exist, or the result of
    /// a renewal, which may already be under way.
    ///
    /// - Returns: The credentials; `nil` if the last renewal was too recent.
    /// - Throws: A ``FetchError`` for a request that is not sent because it lacks credentials.
    func renewed(after old: Edition, for request: DataRequest) async throws(FetchError) -> Edition? {
        let newest = newest
        if newest.number > old.number { return newest }
        let outcome = await renewals.outcome(for: old.number) { [self] _ async throws(FetchError) in
            try await renewedOnce(after: old)
        }
        switch outcome {
        case .fulfilled(.success(let edition)): return edition
        case .fulfilled(.failure(let error)): throw error.lackingCredentials()
        case .cancelled:
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
        case .deadlinePassed:
            let explanation = "was not sent before the deadline: its credentials had to be renewed"
            throw FetchError(.timedOut, request: request, explanation: explanation, wasSent: false)
        }
    }

    /// The time until the next renewal is allowed; `nil` if it is allowed now.
    var timeUntilRenewal: Duration? {
        guard let last = lastRenewal.withLock(\.self) else { return nil }
        let remaining = last + renewalInterval - timer.now
        return remaining > .zero ? remaining : nil
    }

    /// The reason why the credentials were not renewed, as the end of a sentence.
    var reasonNotToRenew: String { "because its credentials are renewed at most once in \(renewalInterval)" }

    private func renewedOnce(after old: Edition) async throws(FetchError) -> Edition? {
        // Another renewal may have ended since the caller looked.
        let newest = newest
        if newest.number > old.number { return newest }
        guard timeUntilRenewal == nil else { return nil }
        defer {
            let now = timer.now
            lastRenewal.withLock { $0 = now }
        }
        let field = try await renew().sensitive
        return edition.withLock { edition in
            edition = Edition(field: field, number: edition.number + 1)
            return edition
        }
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// The origin that the credentials are for.
    public var description: String { "credentials for \(origin)" }

    /// A mirror that reveals no more than the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HeaderField {
    fileprivate var sensitive: HeaderField { HeaderField(name, value, isSensitive: true) }
}

extension HeaderField {
    /// Returns a header field with a bearer token (RFC 6750 section 2.1). Descriptions do not reveal the token.
    public static func bearer(_ token: String) -> Self {
        Self(.authorization, "Bearer \(token)")
    }

    /// Returns a header field with a user name and password (RFC 7617); `nil` if the user name contains a colon, which the
    /// scheme cannot encode. Descriptions do not reveal the values.
    public static func basic(user: String, password: String) -> Self? {
        user.contains(":")
            ? nil : Self(.authorization, "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
}
