import InwardImages

/// The error of a request with a valid signature.
enum ImageServingError: Error {
    /// The image cannot be loaded, processed or encoded. A placeholder can stand for it.
    case image(ImageError)
    /// The recipe cannot be carried out, so the client has to change it.
    case recipe(ImageURLError)

    /// The error of an image whose watermark cannot be typeset.
    init(_ error: TypesettingError, of address: ImageAddress) {
        let reason: ImageError.Reason
        switch error.reason {
        case .missingCharacters, .invalidText:
            self = .recipe(ImageURLError(error))
            return
        case .unavailable: reason = .unavailable
        case .cancelled: reason = .cancelled
        case .timedOut: reason = .timedOut
        }
        let explanation = "has a watermark whose text \(error.explanation)"
        self = .image(ImageError(reason, of: address, explanation: explanation))
    }
}
