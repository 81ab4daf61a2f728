/// A port that provides encoded images.
public protocol ImageSource: Sendable {
    /// Returns the encoded image at an address.
    ///
    /// Implementations stop when the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: The address of the image.
    ///   - limit: The maximum number of bytes. Larger images fail as soon as their size is known.
    /// - Returns: The encoded image.
    /// - Throws: An ``ImageError`` if the image does not exist or cannot be loaded.
    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage
}

/// The address of an image: a URL, a path, or anything else that the image source understands.
public struct ImageAddress: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The address in the form that the source understands.
    public let rawValue: String

    /// Creates an address. The source determines whether it is valid.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates an address from a string literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The address without user name, password, query, and fragment, which can contain secrets. For a data URL (RFC
    /// 2397), only its scheme.
    public var description: String {
        var text = rawValue[...]
        if text.prefix(5).lowercased() == "data:" { return "data:…" }
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        // A host can follow a scheme and slashes. A plain path has no host.
        let scheme = text.prefix { $0 != "/" && $0 != ":" }
        let start = text[scheme.endIndex...].drop { $0 == ":" || $0 == "/" }.startIndex
        guard start > scheme.endIndex, scheme.isEmpty || text[scheme.endIndex] == ":" else { return String(text) }
        let authority = text[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(text) }
        return String(text[..<start] + text[text.index(after: at)...])
    }
}

/// An encoded image from an image source.
public struct EncodedImage: Hashable, Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// Whether this is the requested image. If `false`, it is a substitute, which must not be cached.
    public var isGenuine: Bool

    /// Creates an encoded image. By default, it is the requested one.
    public init(_ bytes: [UInt8], isGenuine: Bool = true) {
        self.bytes = bytes
        self.isGenuine = isGenuine
    }
}
