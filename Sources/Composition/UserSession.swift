public import InterfaceAdapters

/// Who uses the app, from signing in to signing out, and the credentials for it. It never changes: another user, or other
/// credentials, are another session.
public struct UserSession: Sendable, CustomStringConvertible, CustomReflectable {
    /// What the user is called in messages.
    public let name: String
    let credentials: HeaderField?

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - name: What the user is called in messages. No credential.
    ///   - credentials: What the upstream knows the user by, such as `HeaderField.bearer(token)`. It is sent to the upstream's
    ///     own origin, and to nobody else.
    public init(name: String, credentials: HeaderField) {
        self.init(name: name, sending: credentials)
    }

    private init(name: String, sending credentials: HeaderField?) {
        self.name = name
        self.credentials = credentials
    }

    /// The session of somebody who has not signed in. It has no credentials, and otherwise all that another session has.
    public static let guest = Self(name: "guest", sending: nil)

    /// The user's name.
    public var description: String { name }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
