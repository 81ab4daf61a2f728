/// Why there is no image.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Reason: Hashable, Sendable {
        /// There is nothing at the address.
        case notFound
        /// Whoever has the image does not give it to this caller.
        case denied
        /// The image cannot be had now; it may be later.
        case unavailable
        /// What is at the address is larger than allowed, encoded or decoded.
        case tooLarge
        /// What is at the address is no image, or one of a form that cannot be read here.
        case unsupported
        /// What is at the address is an image that is damaged or cut short.
        case damaged
        /// There was no time left.
        case timedOut
        /// The caller gave up.
        case cancelled
    }

    /// What kind of failure it is.
    public let reason: Reason
    /// What was asked for; `nil` where that is not known.
    public let address: ImageAddress?
    /// What happened, as the end of a sentence that begins with the image.
    public let explanation: String

    /// Says why there is no image.
    public init(_ reason: Reason, of address: ImageAddress? = nil, explanation: String) {
        self.reason = reason
        self.address = address
        self.explanation = explanation
    }

    /// The failure in a sentence that names the address, without what may be secret in it.
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
    /// Makes the error of a load from the error of a codec.
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

/// An image, or why there is none.
public typealias ImageResult = Result<Image, ImageError>

extension ImageResult {
    /// How many bytes the image takes; 0 if there is none.
    var byteCount: Int {
        if case .success(let image) = self { image.size.byteCount } else { 0 }
    }
}
