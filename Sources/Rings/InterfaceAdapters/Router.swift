/// A type that turns destinations into links for a medium, such as a website or a command line.
///
/// ```swift
/// struct MailRouter: Router {
///     func link(to destination: Destination) -> Link? {
///         Link("https://example.org/\(destination)")
///     }
/// }
/// let presenter = UserListPresenter(router: MailRouter())
/// ```
public protocol Router: Sendable {
    /// Returns the link to a destination; `nil` if the medium cannot link to it.
    func link(to destination: Destination) -> Link?
}

/// A link to a ``Destination``, such as the path of a page or the arguments for a command.
///
/// ```swift
/// let block = Document.Block.link("Next page", Link("/app/posts/after/61"))
/// ```
public struct Link: Hashable, Sendable, Encodable {
    /// The link as text.
    public let text: String

    /// Creates a link from its text.
    public init(_ text: String) {
        self.text = text
    }

    /// Encodes the link as a single string.
    ///
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A router for media without links.
///
/// ```swift
/// let presenter = UserListPresenter(router: NullRouter())  // Its rows have no links.
/// ```
public struct NullRouter: Router {
    /// Creates a router.
    public init() {}

    /// Returns `nil`.
    public func link(to destination: Destination) -> Link? { nil }
}

/// A router whose links are command-line arguments.
///
/// ```swift
/// let router = CommandRouter(option: "--open")
/// let link = router.link(to: .user(User.ID(7)))  // --open users/7
/// ```
public struct CommandRouter: Router {
    private let option: String

    /// Creates a router.
    ///
    /// - Parameter option: The command-line option that takes a destination.
    public init(option: String) {
        self.option = option
    }

    /// Returns the option followed by the destination's path.
    public func link(to destination: Destination) -> Link? {
        Link("\(option) \(destination)")
    }
}

/// A router whose links are paths of a website.
///
/// ```swift
/// let router = PathRouter(root: "/app")
/// let link = router.link(to: .users)  // /app/users
/// ```
public struct PathRouter: Router {
    private let root: String

    /// Creates a router.
    ///
    /// - Parameter root: The path below which the pages are.
    public init(root: String = "/") {
        self.root = root.hasSuffix("/") ? root : "\(root)/"
    }

    /// Returns the path of the destination's page.
    public func link(to destination: Destination) -> Link? {
        Link("\(root)\(destination)")
    }
}
