public import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Credentials for one origin (scheme, host and port of a URL, RFC 6454), which can renew themselves.
///
/// ```swift
/// let credentials = Credentials(for: url) {
///     let tokenURL = URL(string: "https://login.example.com/token")!
///     let newToken = try await client.fetchData(from: tokenURL)
///     return .bearer(String(decoding: newToken, as: UTF8.self), expiresIn: .seconds(3_600))
/// }
/// let api = orders.authorizing(with: credentials)
/// ```
///
/// Share one instance among all pipelines of a user, so that one renewal serves all of them. Descriptions and reflections do
/// not contain the credentials.
///
/// The credentials are renewed:
///
/// - shortly before they expire, if their lifetime is known. Requests do not wait.
/// - when a request needs them and they have expired or do not exist yet. Requests wait.
/// - when the origin rejects them (401). The rejected requests wait, and are sent once more.
///
/// Credentials are sent over HTTPS. Over plain HTTP they are sent only to this machine (`localhost`, 127.0.0.0/8, `::1`), where
/// nobody else can read them, unless you allow other machines.
public final class Credentials: Sendable {
    /// The default minimum interval between renewals.
    public static let standardRenewalInterval = Duration.seconds(10)
    /// The default time before expiry at which credentials are renewed.
    public static let standardRenewalMargin = Duration.seconds(30)
    /// The default time limit of a renewal.
    public static let standardRenewalLimit = Duration.seconds(30)

    /// A header field and the number of the renewal that it came from.
    struct Edition {
        let field: HeaderField?
        let number: Int
        let lifetime: Duration?
        /// The times of its renewal and its expiry; `nil` if it is valid until the origin rejects it.
        let validity: (renewal: Duration, expiry: Duration)?
    }

    private struct State {
        var newest: Edition
        /// The number of the newest edition that the origin has accepted.
        var accepted = 0
        /// The earliest time of the next renewal; `nil` before the first.
        var nextRenewal: Duration?
        var isRefused = false
        var isClosed = false
        var renewed: [@Sendable () -> Void] = []
        var failed: [@Sendable (any Error) -> Void] = []
        var refused: [@Sendable () -> Void] = []
    }

    let origin: WebOrigin
    /// Whether the credentials can be renewed.
    let areRenewable: Bool
    /// Whether the credentials may be sent over plain HTTP to another machine.
    let mayBeExposed: Bool
    private let state: Mutex<State>
    private let interval: Duration
    private let margin: Duration
    private let limit: Duration
    private let timer: TimerService
    private let renew: @Sendable () async throws -> Credential?
    private let renewals: SingleFlight<Int, Edition?, any Error>

    /// Creates credentials that do not change.
    ///
    /// - Parameters:
    ///   - field: The header field with the credentials, such as ``HeaderField/bearer(_:)``. It is treated as sensitive
    ///     regardless of its name.
    ///   - url: A URL of the origin that the credentials are for.
    ///   - allowingPlainHTTP: Whether to send the credentials over plain HTTP to another machine, where anyone on the network
    ///     path can read them.
    public init(_ field: HeaderField, for url: URL, allowingPlainHTTP: Bool = false) {
        origin = WebOrigin(url)
        mayBeExposed = allowingPlainHTTP
        areRenewable = false
        (interval, margin, limit) = (.zero, .zero, .zero)
        timer = .continuous
        state = Mutex(State(newest: Edition(field: field.sensitive, number: 0, lifetime: nil, validity: nil)))
        renew = { nil }
        renewals = SingleFlight(whenAbandoned: .finish)
    }

    /// Creates credentials that are renewed before they expire, and when the origin no longer accepts them.
    ///
    /// - Parameters:
    ///   - credential: The first credential, such as ``Credential/bearer(_:expiresIn:)``; `nil` to obtain it before the first
    ///     request.
    ///   - url: A URL of the origin that the credentials are for.
    ///   - allowingPlainHTTP: Whether to send the credentials over plain HTTP to another machine, where anyone on the network
    ///     path can read them.
    ///   - interval: The minimum time between the end of a renewal, successful or not, and the next one. A 401 within the
    ///     interval is returned at once. The interval is at most half the lifetime of a credential, so that a short-lived one
    ///     is renewed in time. If a renewal fails before the credential expires, the interval is at most a third of the margin,
    ///     so that another renewal fits in. Neither rule reduces it below a second.
    ///   - margin: How long before its expiry a credential is renewed; at most a fifth of its lifetime.
    ///   - limit: The time limit of a renewal. While the current credential is valid, the limit is at most half the margin, or
    ///     a second if that is longer. A renewal that exceeds it is cancelled, and fails when its task has ended.
    ///   - timer: The source of time.
    ///   - executor: The executor for renewals; `nil` for the default executor.
    ///   - renew: Returns a new credential, for example from a token endpoint; `nil` if the user must sign in again, for
    ///     example because consent was withdrawn. After `nil`, no request is sent. Only one call runs at a time, however many
    ///     requests wait for it. It has a deadline of its own, and ``close()`` cancels its task. If it throws, the waiting
    ///     requests are not sent. If the error is a ``FetchError``, they throw it. Otherwise, they throw a ``FetchError`` with its
    ///     description.
    public init(
        _ credential: Credential? = nil,
        for url: URL,
        allowingPlainHTTP: Bool = false,
        renewingAtMostEvery interval: Duration = standardRenewalInterval,
        renewingBefore margin: Duration = standardRenewalMargin,
        limitingRenewalsTo limit: Duration = standardRenewalLimit,
        timer: TimerService = .continuous,
        executor: (any TaskExecutor)? = nil,
        renewing renew: @escaping @Sendable () async throws -> Credential?
    ) {
        origin = WebOrigin(url)
        mayBeExposed = allowingPlainHTTP
        areRenewable = true
        self.interval = interval
        self.margin = margin
        self.limit = limit
        self.timer = timer
        self.renew = renew
        let first =
            credential.map { Edition($0, number: 0, from: timer.now, renewingBefore: margin) }
            ?? Edition(field: nil, number: 0, lifetime: nil, validity: nil)
        state = Mutex(State(newest: first))
        renewals = SingleFlight(whenAbandoned: .finish, executor: executor)
    }

    // MARK: Events

    /// Performs an action after each renewal, when the origin first accepts the new credentials. For example, send rejected
    /// writes again.
    ///
    /// ```swift
    /// let credentials = Credentials(for: url) { .bearer(token) }
    /// credentials.whenRenewed { print("Send the rejected writes again.") }
    /// ```
    ///
    /// The action does not run if the origin rejects the new credentials as well.
    ///
    /// - Parameter action: The action, which runs on the task whose request succeeded. The credentials retain it, so do not
    ///   capture objects that should be released earlier.
    public func whenRenewed(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.renewed.append(action) }
    }

    /// Performs an action each time a renewal throws or takes too long. For example, log the error.
    ///
    /// This is the only way to notice a renewal that fails before the current credential expires, because requests continue
    /// with that credential.
    ///
    /// - Parameter action: The action, which receives the error of the renewal. The credentials retain it.
    public func whenRenewalFails(_ action: @escaping @Sendable (any Error) -> Void) {
        state.withLock { $0.failed.append(action) }
    }

    /// Performs an action once, when a renewal returns `nil`. For example, sign the user out. If that has already happened, the
    /// action runs at once.
    ///
    /// - Parameter action: The action. The credentials retain it.
    public func whenRefused(_ action: @escaping @Sendable () -> Void) {
        let isRefused = state.withLock { state in
            if !state.isRefused { state.refused.append(action) }
            return state.isRefused
        }
        if isRefused { action() }
    }

    /// Cancels the renewal under way, and prevents further ones. Requests that need a renewal fail with
    /// ``FetchError/Reason/closed``.
    public func close() {
        state.withLock { $0.isClosed = true }
        renewals.cancelAll()
    }

    /// Records that the origin accepted an edition.
    func noteAccepted(_ edition: Edition) {
        let actions = state.withLock { state -> [@Sendable () -> Void] in
            guard edition.number > state.accepted else { return [] }
            state.accepted = edition.number
            return state.renewed
        }
        for action in actions { action() }
    }

    // MARK: Renewing

    /// Returns the credentials to send with a request.
    ///
    /// - Throws: A ``FetchError`` for a request that is not sent because it lacks credentials.
    func edition(for request: DataRequest) async throws(FetchError) -> Edition {
        guard areRenewable else { return state.withLock(\.newest) }
        let (newest, isRefused) = state.withLock { ($0.newest, $0.isRefused) }
        if isRefused { throw refused(request) }
        if newest.field != nil {
            guard let (renewal, expiry) = newest.validity else { return newest }
            let now = timer.now
            if now < renewal { return newest }
            if now < expiry {
                // The credential is still valid, so no request waits. Half the margin leaves time for another attempt if this
                // one fails.
                if timeUntilRenewal == nil { startRenewal(after: newest, within: (expiry - renewal) / 2) }
                return newest
            }
        }
        guard let next = try await renewed(after: newest, for: request) else { throw withoutCredentials(request) }
        return next
    }

    /// Returns the credentials that replace an edition that the origin rejected or that has expired: newer ones if they exist,
    /// or the result of a renewal, which may already be under way.
    ///
    /// - Returns: The credentials; `nil` if the last renewal was too recent.
    /// - Throws: A ``FetchError`` for a request that is not sent because it lacks credentials.
    func renewed(after old: Edition, for request: DataRequest) async throws(FetchError) -> Edition? {
        if state.withLock(\.isRefused) { throw refused(request) }
        let outcome = await renewals.outcome(for: old.number) { [self] _ in
            try await renewedOnce(after: old, within: limit)
        }
        switch outcome {
        case .fulfilled(.success(let edition)): return edition
        case .fulfilled(.failure(let error)): throw translated(error, for: request)
        case .cancelled:
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
        case .deadlinePassed:
            let explanation = "was not sent before the deadline: its credentials had to be renewed"
            throw FetchError(.timedOut, request: request, explanation: explanation, wasSent: false)
        }
    }

    /// The time until the next renewal is allowed; `nil` if it is allowed now.
    var timeUntilRenewal: Duration? {
        guard let next = state.withLock(\.nextRenewal) else { return nil }
        let remaining = next - timer.now
        return remaining > .zero ? remaining : nil
    }

    /// The reason why the credentials were not renewed, as the end of a sentence.
    var reasonNotToRenew: String {
        let interval = interval(after: state.withLock(\.newest))
        return "because its credentials are renewed at most once in \(interval)"
    }

    private func startRenewal(after old: Edition, within limit: Duration) {
        let limit = min(self.limit, max(.seconds(1), limit))
        renewals.start(for: old.number) { [self] _ in try await renewedOnce(after: old, within: limit) }
    }

    private func renewedOnce(after old: Edition, within limit: Duration) async throws -> Edition? {
        let (newest, isClosed) = state.withLock { ($0.newest, $0.isClosed) }
        // Another renewal has ended since the caller looked, or since its request was sent.
        if newest.number > old.number { return newest }
        if isClosed { throw RenewalError.closed }
        guard timeUntilRenewal == nil else { return nil }
        do {
            guard let renewed = try await credential(within: limit) else { throw RenewalError.refused }
            let now = timer.now
            return state.withLock { state in
                state.newest = Edition(renewed, number: state.newest.number + 1, from: now, renewingBefore: margin)
                state.nextRenewal = now + interval(after: state.newest)
                return state.newest
            }
        } catch {
            end(by: error)
            throw error
        }
    }

    private func credential(within limit: Duration) async throws -> Credential? {
        guard let result = await Deadline(in: limit, on: timer).bound(renew) else { throw RenewalError.late(limit) }
        return try result.get()
    }

    /// Records that a renewal has failed.
    private func end(by error: any Error) {
        let (refused, failed) = state.withLock { state -> ([@Sendable () -> Void], [@Sendable (any Error) -> Void]) in
            let now = timer.now
            state.nextRenewal = now + interval(afterFailureWith: state.newest, at: now)
            // A renewal that `close()` cancelled says nothing about the token endpoint.
            if state.isClosed { return ([], []) }
            guard case RenewalError.refused = error else { return ([], state.failed) }
            state.isRefused = true
            defer { state.refused = [] }
            return (state.refused, [])
        }
        for action in failed { action(error) }
        for action in refused { action() }
    }

    /// Returns the minimum time between the renewal that returned an edition and the next one. A credential that lives for a
    /// few seconds must be renewed within them.
    private func interval(after edition: Edition) -> Duration {
        edition.lifetime.map { min(interval, max(.seconds(1), $0 / 2)) } ?? interval
    }

    /// Returns the minimum time between a failed renewal and the next one. While the edition is valid, another attempt must fit
    /// in before it expires.
    private func interval(afterFailureWith edition: Edition, at now: Duration) -> Duration {
        let interval = interval(after: edition)
        guard let (renewal, expiry) = edition.validity, now < expiry else { return interval }
        return min(interval, max(.seconds(1), (expiry - renewal) / 3))
    }
}

// MARK: Errors

extension Credentials {
    private enum RenewalError: Error {
        case refused
        case closed
        case late(Duration)
    }

    private func translated(_ error: any Error, for request: DataRequest) -> FetchError {
        switch error {
        case let error as FetchError: error.lackingCredentials()
        case RenewalError.refused: refused(request)
        case _ where state.withLock(\.isClosed):
            FetchError(.closed, request: request, explanation: "was not sent: its credentials have been closed")
        case RenewalError.late(let limit):
            notRenewed(request, "could not be renewed within \(limit)")
        default:
            notRenewed(request, "could not be renewed: \(String(describing: error).causeExcerpt)")
        }
    }

    private func notRenewed(_ request: DataRequest, _ reason: String) -> FetchError {
        FetchError(.rejected, request: request, explanation: "was not sent: its credentials \(reason)")
            .lackingCredentials()
    }

    private func refused(_ request: DataRequest) -> FetchError {
        let explanation = "was not sent: its credentials are no longer valid and cannot be renewed. Sign in again"
        return FetchError(.rejected, request: request, explanation: explanation).lackingCredentials(forGood: true)
    }

    private func withoutCredentials(_ request: DataRequest) -> FetchError {
        FetchError(
            .rejected,
            request: request,
            explanation: "was not sent: it has no valid credentials, and cannot get new ones yet, \(reasonNotToRenew)",
            retryAfter: timeUntilRenewal.map { .delay($0) }
        ).lackingCredentials()
    }
}

extension Credentials.Edition {
    init(_ credential: Credential, number: Int, from now: Duration, renewingBefore margin: Duration) {
        let validity = credential.lifetime.map { lifetime in
            (renewal: now + lifetime - min(margin, lifetime / 5), expiry: now + lifetime)
        }
        self.init(field: credential.field, number: number, lifetime: credential.lifetime, validity: validity)
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// The origin that the credentials are for.
    public var description: String { "credentials for \(origin)" }

    /// A mirror that contains only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A header field that proves an identity to an upstream, and its lifetime. Descriptions do not contain the value.
///
/// ```swift
/// let credential = Credential.bearer(token, expiresIn: .seconds(3_600))
/// ```
public struct Credential: Hashable, Sendable {
    /// The header field. It is sensitive regardless of its name.
    public let field: HeaderField
    /// How long the credential is valid from when it was obtained, greater than zero; `nil` if that is unknown.
    public let lifetime: Duration?

    /// Creates a credential.
    ///
    /// - Parameters:
    ///   - field: The header field, such as ``HeaderField/bearer(_:)``.
    ///   - lifetime: How long it is valid from now, such as `expires_in` (RFC 6749 section 5.1); `nil` if that is unknown. Zero
    ///     and negative values also count as unknown, because some token endpoints send zero for tokens that do not expire.
    ///     Values above a year count as a year.
    public init(_ field: HeaderField, expiresIn lifetime: Duration? = nil) {
        self.field = HeaderField(field.name, field.value, isSensitive: true)
        // Bounded, because the value comes from outside and the expiry time must be representable.
        self.lifetime = lifetime.flatMap { $0 > .zero ? min($0, .seconds(31_536_000)) : nil }
    }

    /// Returns a bearer token (RFC 6750 section 2.1).
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - lifetime: How long it is valid from now; `nil` if that is unknown.
    /// - Returns: The credential.
    public static func bearer(_ token: String, expiresIn lifetime: Duration? = nil) -> Self {
        Self(HeaderField.bearer(token), expiresIn: lifetime)
    }
}

extension HeaderField {
    var sensitive: HeaderField { HeaderField(name, value, isSensitive: true) }
}

extension HeaderField {
    /// Returns a header field with a bearer token (RFC 6750 section 2.1). Descriptions do not contain the token.
    public static func bearer(_ token: String) -> Self {
        Self(.authorization, "Bearer \(token)")
    }

    /// Returns a header field with a user name and password (RFC 7617); `nil` if the user name contains a colon, which the
    /// scheme cannot encode. Descriptions do not contain the values.
    public static func basic(user: String, password: String) -> Self? {
        user.contains(":")
            ? nil : Self(.authorization, "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
}
