public import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Credentials for one origin: scheme, host and port of an address (RFC 6454). They show in no description or reflection.
///
/// Share them among all who act for the same user: what is renewed for one is renewed for all.
///
/// They are sent by https, and by plain http only to this machine (`localhost`, 127.0.0.0/8, `::1`), where nobody else reads
/// along, unless you allow it.
public final class Credentials: Sendable {
    /// How far apart renewals are by default.
    public static let standardRenewalInterval = Duration.seconds(10)

    /// A field, and for which time it was renewed.
    struct Edition {
        let field: HeaderField?
        let number: Int
    }

    /// The newest edition that the origin accepted, and what is done when it accepts a newer one.
    private struct Acceptance {
        var number = 0
        var actions: [@Sendable () -> Void] = []
    }

    let origin: WebOrigin
    /// Whether others can be had.
    let areRenewable: Bool
    /// Whether they may be sent where others can read them.
    let mayBeExposed: Bool
    private let edition: Mutex<Edition>
    private let acceptance = Mutex(Acceptance())
    /// When the last renewal ended, whether or not it succeeded.
    private let lastRenewal = Mutex<Duration?>(nil)
    private let renewalInterval: Duration
    private let timer: TimerService
    private let renew: @Sendable () async throws(FetchError) -> HeaderField
    private let renewals: SingleFlight<Int, Edition?, FetchError>

    /// Makes credentials that stay as they are.
    ///
    /// - Parameters:
    ///   - field: The field that holds them, such as ``HeaderField/bearer(_:)``. It is treated as sensitive, whatever its name.
    ///   - url: An address of the origin that they are for.
    ///   - allowingPlainHTTP: Whether they are sent by plain http to another machine, where anybody on the way can read them.
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

    /// Makes credentials that are renewed when the origin does not take them any more.
    ///
    /// - Parameters:
    ///   - field: The field that holds them, such as ``HeaderField/bearer(_:)``; `nil` if there are none yet, and they are to be
    ///     had before the first request.
    ///   - url: An address of the origin that they are for.
    ///   - allowingPlainHTTP: Whether they are sent by plain http to another machine, where anybody on the way can read them.
    ///   - interval: How long after a renewal the next one begins at the earliest, whether or not it succeeded. An origin that
    ///     takes no credentials at all causes one renewal in each interval. A request that is not taken meanwhile is answered with
    ///     401 at once.
    ///   - timer: What tells the time.
    ///   - executor: Where they are renewed; `nil` for wherever there is room.
    ///   - renew: Gives new ones, such as by asking a token endpoint. One call is under way at a time, whoever waits for it, and
    ///     it has nothing to do with anybody's deadline, so bound it by one of its own. What it throws, each who waits for it
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

    /// Does something whenever the origin has accepted renewed credentials for the first time, such as sending the writes that it
    /// turned away before:
    ///
    ///     credentials.whenRenewed { [weak outbox] in outbox?.retryDenied() }
    ///
    /// Nothing is done for new credentials that the origin turns away as well.
    ///
    /// - Parameter action: What is done, on the task whose request was answered. It is kept as long as the credentials, so let it
    ///   hold nothing that ends before them.
    public func whenRenewed(_ action: @escaping @Sendable () -> Void) {
        acceptance.withLock { $0.actions.append(action) }
    }

    /// Notes that the origin accepted an edition.
    func noteAccepted(_ edition: Edition) {
        let actions = acceptance.withLock { acceptance -> [@Sendable () -> Void] in
            guard edition.number > acceptance.number else { return [] }
            acceptance.number = edition.number
            return acceptance.actions
        }
        for action in actions { action() }
    }

    /// The newest there are.
    var newest: Edition { edition.withLock(\.self) }

    /// The credentials that follow an edition which the origin did not take: by now there may be others, or somebody is getting
    /// them.
    ///
    /// - Returns: the credentials; `nil` if they were renewed too short a time ago.
    /// - Throws: a ``FetchError`` of a request that is not sent for want of credentials.
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

    /// How long it is until they can be renewed again; `nil` if they can be now.
    var timeUntilRenewal: Duration? {
        guard let last = lastRenewal.withLock(\.self) else { return nil }
        let remaining = last + renewalInterval - timer.now
        return remaining > .zero ? remaining : nil
    }

    /// The explanation of why they were not renewed, as the end of a sentence.
    var reasonNotToRenew: String { "because its credentials are renewed at most once in \(renewalInterval)" }

    private func renewedOnce(after old: Edition) async throws(FetchError) -> Edition? {
        // Who asked just before may have been the last to see the old one.
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
    /// The origin that they are for.
    public var description: String { "credentials for \(origin)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HeaderField {
    fileprivate var sensitive: HeaderField { HeaderField(name, value, isSensitive: true) }
}

extension HeaderField {
    /// The credentials of whoever bears a token (RFC 6750 section 2.1). They show in no description.
    public static func bearer(_ token: String) -> Self {
        Self(.authorization, "Bearer \(token)")
    }

    /// The credentials of a user with a password (RFC 7617); `nil` if the user's name has a colon, which that has no way to
    /// send. They show in no description.
    public static func basic(user: String, password: String) -> Self? {
        user.contains(":")
            ? nil : Self(.authorization, "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
}
