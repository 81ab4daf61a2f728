public import InwardFetching

/// A user of the app from sign-in to sign-out, with the credentials to send.
///
/// A session is immutable. A different user, or the same user with different credentials, is a different session.
///
/// ```swift
/// let session = UserSession(name: "Ada", credentials: .bearer("token"), storeKey: "user-7")
/// ```
public struct UserSession: Sendable, CustomStringConvertible, CustomReflectable {
    /// The user's name in messages.
    public let name: String
    let credentials: HeaderField?
    /// Whose records in a store the session uses; `nil` if the session stores nothing.
    let storeOwner: StoreOwner?

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - name: The user's name in messages. It must not contain credentials.
    ///   - credentials: The header field that identifies the user to the upstream, such as `HeaderField.bearer(token)`. It is
    ///     sent only to the upstream's own origin. Unless the app's configuration allows more, it is sent over plain HTTP only
    ///     to this machine.
    ///   - storeKey: A key that identifies this user across sessions, such as the user's identity at the upstream. Every
    ///     session with the same key sees what the app's store holds for it. `nil` to store nothing.
    public init(name: String, credentials: HeaderField, storeKey: String? = nil) {
        self.init(name: name, sending: credentials, storeOwner: storeKey.map { StoreOwner($0) })
    }

    private init(name: String, sending credentials: HeaderField?, storeOwner: StoreOwner?) {
        self.name = name
        self.credentials = credentials
        self.storeOwner = storeOwner
    }

    /// The session of a user who has not signed in. It works like any other session, but sends no credentials.
    public static let guest = Self(name: "guest", sending: nil, storeOwner: .guests)

    /// The user's name.
    public var description: String { name }

    /// The reflection of the session, which shows only the user's name.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
