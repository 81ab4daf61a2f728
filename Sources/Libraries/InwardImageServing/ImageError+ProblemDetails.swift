public import InwardFetching
public import InwardImages

extension ImageError: ProblemDetailsConvertible {
    /// The response to a request for an image that the server could not load: 404 if it does not exist, 403 if access is denied,
    /// 502 if it is too large, unsupported or damaged, and 503 otherwise.
    public var problemDetails: ProblemDetails {
        switch reason {
        case .notFound: .notFound
        case .denied: .denied
        case .tooLarge, .unsupported, .damaged: .unreadable
        case .unavailable, .timedOut, .cancelled: .unavailable
        }
    }
}

extension ImageCodecError: ProblemDetailsConvertible {
    /// The response to a client that sent the image, such as in an upload: 415 if the format is not supported, 422 if the image
    /// is damaged or cannot be encoded, and 503 otherwise.
    public var problemDetails: ProblemDetails {
        switch reason {
        case .unrecognized, .unsupported: .unsupported
        case .damaged, .truncated, .unencodable: .refused
        case .timedOut, .cancelled: .unavailable
        }
    }
}

extension TypesettingError: ProblemDetailsConvertible {
    /// The response to a client that sent the text, such as in a form: 422 with the text of the error if a character cannot be
    /// drawn or is not allowed, and 503 otherwise.
    public var problemDetails: ProblemDetails {
        switch reason {
        case .missingCharacters, .invalidText: ProblemDetails(422, detail: description)
        case .unavailable, .cancelled, .timedOut: .unavailable
        }
    }
}
