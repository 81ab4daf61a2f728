#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A picture of a document, which holds it.
public struct Picture: Hashable, Sendable {
    /// The bytes of the picture, encoded.
    public let bytes: [UInt8]
    /// What they are encoded as, such as `image/png`.
    public let mediaType: String
    /// How many pixels wide it is.
    public let width: Int
    /// How many pixels high it is.
    public let height: Int
    /// What it shows, for those who do not see it.
    public let alternative: String

    /// Makes a picture.
    public init(bytes: [UInt8], mediaType: String, width: Int, height: Int, alternative: String) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.alternative = alternative
    }

    /// The picture as an address that holds it (RFC 2397).
    var dataURL: String { "data:\(mediaType);base64,\(Data(bytes).base64EncodedString())" }
}
