/// Why bytes did not become a picture, or a picture bytes.
public struct ImageCodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Reason: Hashable, Sendable {
        /// The bytes are of no form that is known.
        case unrecognized
        /// The form is known, and this codec does not do it.
        case unsupported(ImageFormat)
        /// The bytes break the rules of their form.
        case damaged(ImageFormat)
        /// The bytes end before the picture does.
        case truncated(ImageFormat)
        /// The picture does not fit into the form.
        case unencodable(ImageFormat)
        /// The task was cancelled.
        case cancelled
        /// The deadline of the task passed first.
        case timedOut
    }

    /// What kind of failure it is.
    public let reason: Reason
    /// What happened, as the end of a sentence that begins with the picture: "has a wrong checksum in IDAT at byte 41".
    public let explanation: String

    /// Says why it failed.
    public init(_ reason: Reason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// The failure in a sentence.
    public var description: String { "The picture \(explanation)." }
}
