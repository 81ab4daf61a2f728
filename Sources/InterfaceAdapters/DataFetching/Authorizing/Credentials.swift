import Synchronization
import UseCases

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Credentials for one origin: scheme, host and port of an address (RFC 6454). They show in no description or reflection.
///
/// Share them among all who act for the same user: what is renewed for one is renewed for all.
public final class Credentials: Sendable {
    /// A field, and for which time it was renewed.
    struct Edition {
        let field: HeaderField?
        let number: Int
    }

    let origin: WebOrigin
    /// Whether others can be had.
    let areRenewable: Bool
    private let edition: Mutex<Edition>
    private let renew: @Sendable () async throws(FetchError) -> HeaderField
    private let renewals: SingleFlight<Int, HeaderField, FetchError>

    /// Makes credentials that stay as they are.
    ///
    /// - Parameters:
    ///   - field: The field that holds them, such as ``HeaderField/bearer(_:)``. It is treated as sensitive, whatever its name.
    ///   - url: An address of the origin that they are for.
    public convenience init(_ field: HeaderField, for url: URL) {
        self.init(field, WebOrigin(url), areRenewable: false, executor: nil) { () throws(FetchError) in field }
    }

    /// Makes credentials that are renewed when the origin does not take them any more.
    ///
    /// - Parameters:
    ///   - field: The field that holds them, such as ``HeaderField/bearer(_:)``; `nil` if there are none yet, and they are to be
    ///     had before the first request.
    ///   - url: An address of the origin that they are for.
    ///   - executor: Where they are renewed; `nil` for wherever there is room.
    ///   - renew: Gives new ones, such as by asking a token endpoint. One call is under way at a time, whoever waits for it, and
    ///     it has nothing to do with anybody's deadline, so bound it by one of its own. What it throws, each who waits for it
    ///     throws.
    public convenience init(
        _ field: HeaderField? = nil,
        for url: URL,
        executor: (any TaskExecutor)? = nil,
        renewing renew: @escaping @Sendable () async throws(FetchError) -> HeaderField
    ) {
        self.init(field, WebOrigin(url), areRenewable: true, executor: executor, renew)
    }

    private init(
        _ field: HeaderField?,
        _ origin: WebOrigin,
        areRenewable: Bool,
        executor: (any TaskExecutor)?,
        _ renew: @escaping @Sendable () async throws(FetchError) -> HeaderField
    ) {
        self.origin = origin
        self.areRenewable = areRenewable
        self.renew = renew
        edition = Mutex(Edition(field: field.map(\.sensitive), number: 0))
        renewals = SingleFlight(whenAbandoned: .goesOn, executor: executor)
    }

    /// The newest there are.
    var newest: Edition { edition.withLock(\.self) }

    /// Those that follow an edition which the origin did not take: by now there may be others, or somebody is getting them.
    func renewed(after old: Edition, for request: DataRequest) async throws(FetchError) -> Edition {
        let newest = newest
        if newest.number > old.number { return newest }
        let outcome = await renewals.outcome(for: old.number) { [self] _ async throws(FetchError) in
            // Who asked just before may have been the last to see the old one.
            if let field = self.newest.field, self.newest.number > old.number { return field }
            let field = try await renew().sensitive
            edition.withLock { $0 = Edition(field: field, number: $0.number + 1) }
            return field
        }
        switch outcome {
        case .kept(let answer): return Edition(field: try answer.get(), number: old.number + 1)
        case .cancelled: throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        case .deadlinePassed:
            let explanation = "was not sent before the deadline: its credentials had to be renewed"
            throw FetchError(.timedOut, request: request, explanation: explanation, wasSent: false)
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
