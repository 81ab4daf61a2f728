/// An error thrown when an image cannot be loaded.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// There is no image at the address.
        case notFound
        /// The source refuses to give the image to this caller.
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
    /// What happened, as the end of a sentence that begins with the image.
    public let explanation: String

    /// Creates an error with a kind and an explanation.
    public init(_ reason: Reason, of address: ImageAddress? = nil, explanation: String) {
        self.reason = reason
        self.address = address
        self.explanation = explanation
    }

    /// A sentence that names the address and what happened. It omits parts of the address that can contain secrets.
    public var description: String {
        guard let address else { return "The image \(explanation)." }
        return "The image \(address) \(explanation)."
    }
}

extension ImageError {
    static func cancelled(_ address: ImageAddress) -> ImageError {
        ImageError(.cancelled, of: address, explanation: "was given up")
    }

    static func timedOut(_ address: ImageAddress) -> ImageError {
        ImageError(.timedOut, of: address, explanation: "was not there before the deadline")
    }
}

extension ImageError {
    /// Creates the error of a load from a codec's error.
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
