public import InwardFetching
public import InwardImages

extension ImageError: ProblemDetailsConvertible {
    /// The response of a server that shows the error. The client cannot do anything about an image that the server loaded for it.
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
    /// The response of a server that was given the bytes, such as in an upload.
    public var problemDetails: ProblemDetails {
        switch reason {
        case .unrecognized, .unsupported: .unsupported
        case .damaged, .truncated, .unencodable: .refused
        case .timedOut, .cancelled: .unavailable
        }
    }
}
