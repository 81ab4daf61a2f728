/// Has the bytes of images.
public protocol ImageSource: Sendable {
    /// The image at an address, as it is encoded.
    ///
    /// Gives up when the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: Where the image is.
    ///   - limit: How many bytes there may be. With more it fails as soon as that is known.
    /// - Returns: the bytes of the image.
    /// - Throws: an ``ImageError`` if there is no image, or it cannot be had.
    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage
}

/// What an image is asked for by: an address of the web, a path, or whatever else its source understands.
public struct ImageAddress: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The address as its source understands it.
    public let rawValue: String

    /// Makes an address; whether there is something at it, its source finds out.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes an address of a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The address without user name, password, query and fragment, any of which may hold a secret; of one that holds the
    /// image itself (RFC 2397), no more than that it does.
    public var description: String {
        var text = rawValue[...]
        if text.prefix(5).lowercased() == "data:" { return "data:…" }
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        // What a host can begin behind: a scheme, and slashes. A path alone has no host.
        let scheme = text.prefix { $0 != "/" && $0 != ":" }
        let start = text[scheme.endIndex...].drop { $0 == ":" || $0 == "/" }.startIndex
        guard start > scheme.endIndex, scheme.isEmpty || text[scheme.endIndex] == ":" else { return String(text) }
        let authority = text[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(text) }
        return String(text[..<start] + text[text.index(after: at)...])
    }
}

/// The bytes of an image, as its source has them.
public struct EncodedImage: Hashable, Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// Whether they are those that were asked for, and not others in their place, which nobody keeps.
    public var isGenuine: Bool

    /// Makes the bytes of an image, those that were asked for unless it is said otherwise.
    public init(_ bytes: [UInt8], isGenuine: Bool = true) {
        self.bytes = bytes
        self.isGenuine = isGenuine
    }
}
