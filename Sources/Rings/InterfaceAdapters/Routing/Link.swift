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
