/// Turns destinations into links for one medium.
public protocol Router: Sendable {
    /// The link to a destination; `nil` if the medium has none.
    func link(to destination: Destination) -> Link?
}

/// What somebody follows to get to a ``Destination``, in the terms of one medium: an address of a page, or words for a command
/// line.
public struct Link: Hashable, Sendable, Encodable {
    /// The link as text.
    public let text: String

    /// Makes a link of its text.
    public init(_ text: String) {
        self.text = text
    }

    /// Encodes the link as its text.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Makes no links, for a medium that leads nowhere.
public struct NullRouter: Router {
    /// Makes a router.
    public init() {}

    /// Nothing.
    public func link(to destination: Destination) -> Link? { nil }
}

/// Makes links that are typed behind a command: `--open users/7`.
public struct CommandRouter: Router {
    private let option: String

    /// Makes a router.
    ///
    /// - Parameter option: The option that the command takes a destination by.
    public init(option: String) {
        self.option = option
    }

    /// The option with the destination's path.
    public func link(to destination: Destination) -> Link? {
        Link("\(option) \(destination)")
    }
}

/// Makes links for pages of a web site: `/users/7`.
public struct PathRouter: Router {
    private let root: String

    /// Makes a router.
    ///
    /// - Parameter root: The path that the pages lie below.
    public init(root: String = "/") {
        self.root = root.hasSuffix("/") ? root : "\(root)/"
    }

    /// The path of the page of a destination.
    public func link(to destination: Destination) -> Link? {
        Link("\(root)\(destination)")
    }
}
