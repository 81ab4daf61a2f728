/// A port that provides encoded images, for example from a server or a directory.
///
/// ```swift
/// struct BundledImages: ImageSource {
///     let images: [ImageAddress: [UInt8]]
///
///     func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
///         guard let bytes = images[address] else { throw ImageError(.notFound, of: address, explanation: "does not exist") }
///         guard bytes.count <= limit else { throw ImageError(.tooLarge, of: address, explanation: "is too large") }
///         return EncodedImage(bytes)
///     }
/// }
/// ```
public protocol ImageSource: Sendable {
    /// Returns the encoded image at an address. Stops when the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: The address of the image.
    ///   - limit: The maximum number of bytes. Throw ``ImageError/Reason/tooLarge`` as soon as the image is known to be larger.
    /// - Returns: The encoded image.
    /// - Throws: An ``ImageError`` if the image does not exist or cannot be loaded.
    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage
}

/// The address of an image: a URL, a path, or anything else that the image source understands.
///
/// ```swift
/// let address = ImageAddress("https://ada:secret@example.org/7.jpg?token=1")
/// print(address)           // https://example.org/7.jpg
/// print(address.rawValue)  // The complete address. Do not log it.
/// ```
public struct ImageAddress: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The address in the form that the source understands.
    public let rawValue: String

    /// Creates an address. It is not validated here: the source decides whether it is valid.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates an address from a string literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// The address without credentials, query, and fragment, which can be secret. For a data URL (RFC 2397), only its scheme.
    public var description: String {
        var text = rawValue[...]
        if text.prefix(5).lowercased() == "data:" { return "data:…" }
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        // Only a scheme or leading slashes can precede a host. A plain path has none.
        let scheme = text.prefix { $0 != "/" && $0 != ":" }
        let start = text[scheme.endIndex...].drop { $0 == ":" || $0 == "/" }.startIndex
        guard start > scheme.endIndex, scheme.isEmpty || text[scheme.endIndex] == ":" else { return String(text) }
        let authority = text[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(text) }
        return String(text[..<start] + text[text.index(after: at)...])
    }
}

/// An encoded image from an image source.
///
/// ```swift
/// let requested = EncodedImage(jpeg)
/// let substitute = EncodedImage(jpeg, isGenuine: false)  // Such as a logo while the upstream is down.
/// ```
public struct EncodedImage: Hashable, Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// Whether this is the requested image. The loader does not cache substitutes, such as the response of a fallback.
    public var isGenuine: Bool

    /// Creates an encoded image, which is the requested one by default.
    public init(_ bytes: [UInt8], isGenuine: Bool = true) {
        self.bytes = bytes
        self.isGenuine = isGenuine
    }
}

/// An error thrown when an image cannot be loaded.
///
/// ```swift
/// do {
///     _ = try await loader.loadImage(from: "avatars/7.jpg")
/// } catch where error.reason == .notFound {
///     print(error)  // Names the address and what happened, without secrets.
/// }
/// ```
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// There is no image at the address.
        case notFound
        /// The source denies access to the image.
        case denied
        /// The image is temporarily unavailable.
        case unavailable
        /// The image exceeds a limit, encoded or decoded.
        case tooLarge
        /// The data is not an image, or its format is not supported.
        case unsupported
        /// The image is damaged or truncated.
        case damaged
        /// The deadline or a time limit passed.
        case timedOut
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let reason: Reason
    /// The address of the image, or `nil` if it is unknown.
    public let address: ImageAddress?
    /// What happened. It completes a sentence that begins with "The image", such as "does not exist".
    public let explanation: String

    /// Creates an error with a kind and an explanation.
    public init(_ reason: Reason, of address: ImageAddress? = nil, explanation: String) {
        self.reason = reason
        self.address = address
        self.explanation = explanation
    }

    /// A sentence with the address and what happened. It omits the parts of the address that can contain secrets.
    public var description: String {
        guard let address else { return "The image \(explanation)." }
        return "The image \(address) \(explanation)."
    }
}

extension ImageError {
    static func cancelled(_ address: ImageAddress) -> ImageError {
        ImageError(.cancelled, of: address, explanation: "was not loaded: the task was cancelled")
    }

    static func timedOut(_ address: ImageAddress) -> ImageError {
        ImageError(.timedOut, of: address, explanation: "was not loaded before the deadline")
    }

    /// Creates an error from an error of a codec, with the same explanation.
    public init(_ error: ImageCodecError, of address: ImageAddress) {
        let reason: Reason =
            switch error.reason {
            case .unrecognized, .unsupported, .unencodable: .unsupported
            case .damaged, .truncated: .damaged
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            }
        self.init(reason, of: address, explanation: error.explanation)
    }
}

/// An image, or the error that prevented it.
public typealias ImageResult = Result<Image, ImageError>
