import Foundation
import InwardCore
public import InwardFetching
import InwardRepositories

/// Who uses the app, from signing in to signing out, and the credentials for it. It never changes: another user, or other
/// credentials, are another session.
public struct UserSession: Sendable, CustomStringConvertible, CustomReflectable {
    /// What the user is called in messages.
    public let name: String
    let credentials: HeaderField?
    /// What the session's part of a store is called; `nil` if nothing of it is kept there. No user has that of the guests.
    let storePart: RecordKey?

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - name: What the user is called in messages. No credential.
    ///   - credentials: What the upstream knows the user by, such as `HeaderField.bearer(token)`. It is sent to the upstream's
    ///     own origin, and to nobody else; by plain http only to this machine, unless the app's configuration allows more.
    ///   - storeKey: What tells this user from all others, from one session to the next, such as the identity that the upstream
    ///     knows the user by. What is kept for the user in the app's store is given to whoever has the same. `nil` to keep nothing
    ///     there.
    public init(name: String, credentials: HeaderField, storeKey: String? = nil) {
        self.init(name: name, sending: credentials, storePart: storeKey.map { ["users", $0] })
    }

    private init(name: String, sending credentials: HeaderField?, storePart: RecordKey?) {
        self.name = name
        self.credentials = credentials
        self.storePart = storePart
    }

    /// The session of a user who has not signed in. It has no credentials, and otherwise everything that another session has.
    public static let guest = Self(name: "guest", sending: nil, storePart: ["guests"])

    /// The user's name.
    public var description: String { name }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension UserSession {
    /// The session's part of a store, which is another for each upstream: what one says is not what another does, and what is to be
    /// written to one is not for another.
    ///
    /// - Parameters:
    ///   - records: The store.
    ///   - upstream: The address of the upstream.
    ///   - errorHandler: Receives what could not be read or kept.
    /// - Returns: the part; `nil` if nothing of the session is kept there.
    func place(
        in records: any RecordStore,
        of upstream: URL,
        tellingFailuresTo errorHandler: any ErrorHandler
    ) -> RepositoryStore? {
        storePart.map { part in
            RepositoryStore(records, partition: RecordKey(["upstreams", upstream.nameInStore] + part.components)) {
                Date()
            } reportFailure: { error in
                errorHandler.handle(error)
            }
        }
    }
}

extension URL {
    /// What an upstream is called in a store: the same with a slash at its end and without.
    fileprivate var nameInStore: String {
        let address = absoluteURL.standardized.absoluteString
        return address.hasSuffix("/") ? String(address.dropLast()) : address
    }
}
