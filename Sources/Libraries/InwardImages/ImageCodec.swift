import InwardCore

/// Makes images of bytes, and bytes of images.
///
/// Nothing in the bytes can crash a codec, keep it busy for ever, or have it take more memory than the header says: they come
/// from outside. A codec gives up when the task that calls it is cancelled, or its deadline passes: call
/// ``ImageCodecError/checkCancellation()`` between steps, such as rows.
public protocol ImageCodec: Sendable {
    /// What encoded bytes say of the image in them, without decoding it.
    ///
    /// - Throws: an ``ImageCodecError`` if they are of no form that this codec reads, or damaged at the beginning.
    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader

    /// The image in encoded bytes, as it is stored: its orientation is not applied.
    ///
    /// - Throws: an ``ImageCodecError`` if they are of no form that this codec reads, damaged, or cut short; or if the task was
    ///   cancelled.
    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image

    /// The bytes of an image in a form, as it is stored.
    ///
    /// - Throws: an ``ImageCodecError`` if this codec does not write the form, or the image does not fit into it; or if the
    ///   task was cancelled.
    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8]
}

/// How encoded bytes are made an image.
public struct ImageDecodingOptions: Hashable, Sendable {
    /// What the sides of the image are divided by, one of the reductions that its header names; taken for 1 if it is not.
    public var reduction: Int
    /// Whether bytes that are cut short give what there is of the image; the rest is then grey, or clear if it can be.
    public var allowsTruncation: Bool

    /// Decodes an image as large as it is, and only if it is whole, unless something else is said.
    public init(reduction: Int = 1, allowsTruncation: Bool = false) {
        self.reduction = reduction
        self.allowsTruncation = allowsTruncation
    }
}

/// How an image is encoded.
public struct ImageEncoding: Hashable, Sendable {
    /// How much of the colour is kept, where a form keeps less of it than of the brightness.
    public enum Subsampling: Hashable, Sendable {
        /// All of it (4:4:4).
        case none
        /// One value for two pixels of a row (4:2:2).
        case half
        /// One value for four pixels (4:2:0).
        case quarter
    }

    /// The form.
    public let format: ImageFormat
    /// How good the image stays, from 1 to 100, where the form loses something.
    public let quality: Int
    /// How much of the colour is kept.
    public let subsampling: Subsampling

    /// Encodes in a form; a quality outside of 1 to 100 is taken for the nearest one.
    public init(_ format: ImageFormat, quality: Int = 80, subsampling: Subsampling = .quarter) {
        self.format = format
        self.quality = min(max(1, quality), 100)
        self.subsampling = subsampling
    }

    /// PNG, which loses nothing.
    public static let png = ImageEncoding(.png)

    /// JPEG; what cannot be seen through is shown on white.
    public static func jpeg(quality: Int = 80, subsampling: Subsampling = .quarter) -> ImageEncoding {
        ImageEncoding(.jpeg, quality: quality, subsampling: subsampling)
    }
}

/// Why bytes did not become an image, or an image bytes.
public struct ImageCodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Reason: Hashable, Sendable {
        /// The bytes are of no form that is known.
        case unrecognized
        /// The form is known, and this codec does not do it.
        case unsupported(ImageFormat)
        /// The bytes break the rules of their form.
        case damaged(ImageFormat)
        /// The bytes end before the image does.
        case truncated(ImageFormat)
        /// The image does not fit into the form.
        case unencodable(ImageFormat)
        /// The task was cancelled.
        case cancelled
        /// The deadline of the task passed first.
        case timedOut
    }

    /// What kind of failure it is.
    public let reason: Reason
    /// What happened, as the end of a sentence that begins with the image: "has a wrong checksum in IDAT at byte 41".
    public let explanation: String

    /// Says why it failed.
    public init(_ reason: Reason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// The failure in a sentence.
    public var description: String { "The image \(explanation)." }
}

extension ImageCodecError {
    /// The task was cancelled.
    public static let cancelled = ImageCodecError(.cancelled, "was given up")

    /// The deadline of the task passed.
    public static let timedOut = ImageCodecError(.timedOut, "was not decoded or encoded before the deadline")

    /// Throws if the task was cancelled, or if its deadline has passed.
    ///
    /// A codec calls this between the steps of its work, such as rows, so that no image keeps a thread busy for longer than
    /// its caller waits. It looks at the deadline itself, because the timer that cancels the task may have no thread to run on
    /// while codecs are busy on all of them.
    ///
    /// - Throws: ``cancelled`` or ``timedOut``.
    public static func checkCancellation() throws(ImageCodecError) {
        guard !Task.isCancelled else { throw .cancelled }
        if let deadline = Deadline.current, deadline.hasPassed { throw .timedOut }
    }
}
