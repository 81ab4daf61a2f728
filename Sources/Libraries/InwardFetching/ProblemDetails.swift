import InwardCore

/// The response of a server to a request that it cannot answer (RFC 9457), from the error of a port.
///
///     do {
///         return try await showUser(id)
///     } catch {
///         let problem = ProblemDetails(error)
///         return Response(status: problem.status, headers: problem.headerFields, body: try JSONEncoder().encode(problem))
///     }
///
/// The texts are fixed: they name neither the upstream, nor its addresses, nor credentials. Report the error itself to an error
/// handler.
public struct ProblemDetails: Error, Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The media type of the encoded problem.
    public static let mediaType = "application/problem+json"

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance
    }

    /// A URI that identifies the kind of problem. `about:blank` says no more than the status.
    public var type = "about:blank"
    /// The status of the response.
    public let status: DataResponse.Status
    /// The registered phrase of the status, such as `Not Found`.
    public let title: String
    /// What happened and what to do, for people, as a sentence.
    public let detail: String
    /// A URI that identifies this occurrence, such as that of the request; `nil` for none.
    public var instance: String?
    /// How long the client should wait before a retry; `nil` if it is not known.
    public var retryAfter: Duration?

    /// Creates a problem.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - detail: What happened and what to do, for people, as a sentence. It must not contain credentials.
    ///   - retryAfter: How long the client should wait before a retry; `nil` if it is not known.
    public init(_ status: DataResponse.Status, detail: String, retryAfter: Duration? = nil) {
        self.status = status
        self.title = status.phrase ?? "Unknown"
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// The fields of the response: the media type, and `Retry-After` in whole seconds, rounded up, if the client should wait.
    public var headerFields: HeaderFields {
        var fields: HeaderFields = [HeaderField(.contentType, Self.mediaType)]
        if let retryAfter, retryAfter > .zero {
            let (seconds, rest) = retryAfter.components
            fields.append(HeaderField(.retryAfter, String(seconds + (rest > 0 ? 1 : 0))))
        }
        return fields
    }

    /// The status and the detail on one line.
    public var description: String { "\(status): \(detail)" }

    /// Encodes the members of RFC 9457 section 3.1.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encode(title, forKey: .title)
        try container.encode(status.code, forKey: .status)
        try container.encode(detail, forKey: .detail)
        try container.encodeIfPresent(instance, forKey: .instance)
    }
}

extension ProblemDetails {
    /// Creates the problem for an error of a port.
    ///
    /// | `RepositoryError` | status | `FetchError` |
    /// |---|---|---|
    /// | `notFound` | 404 | answered with 404 or 410 |
    /// | `denied` | 403 | answered with 401, 403, 407 or 511 |
    /// | `conflict` | 409 | answered with 409 or 412 |
    /// | `refused` | 422 | `invalidRequest`; answered with another 4xx |
    /// | `unreadable` | 502 | `unreadable`, `tooLarge` |
    /// | `unavailable` | 503, with `Retry-After` if it is known | any other; answered with 408, 421, 423, 425, 429 or 5xx |
    /// | `outcomeUnknown` | 504 | none: a fetch does not know whether it was to change anything |
    /// | `closed`, `cancelled` | 503 | `closed`, `cancelled` |
    ///
    /// A `UnitOfWorkError` becomes 507 if storage is full, 403 if the changes are not permitted, and 503 otherwise. A
    /// `ProblemDetails` is copied. Any other error becomes 500.
    public init(_ error: any Error) {
        switch error {
        case let problem as ProblemDetails: self = problem
        case let error as RepositoryError: self.init(error.reason.code, retryAfter: error.retryAfter)
        case let error as FetchError:
            let delay: Duration? = if case .delay(let delay) = error.retryAfter { delay } else { nil }
            self.init(RepositoryError.Reason(error).code, retryAfter: delay)
        case let error as UnitOfWorkError: self.init(error)
        default:
            self.init(500, detail: "Something went wrong. Nothing is known about whether a retry succeeds.")
        }
    }

    private init(_ code: RepositoryError.Reason.Code, retryAfter: Duration?) {
        switch code {
        case .notFound: self.init(404, detail: "There is nothing at this address.")
        case .denied: self.init(403, detail: "You may not see or change this. Sign in, or ask for access.")
        case .conflict:
            self.init(409, detail: "This was changed in the meantime. Read it again, and then change it.")
        case .refused: self.init(422, detail: "The request was refused. Change it before you send it again.")
        case .unreadable: self.init(502, detail: "A service behind this one gave an answer that cannot be used.")
        case .outcomeUnknown:
            self.init(504, detail: "Whether the change was made is not known. Read before you send it again.")
        case .unavailable, .closed, .cancelled:
            self.init(503, detail: "The service cannot answer at the moment. Try again later.", retryAfter: retryAfter)
        }
    }

    private init(_ error: UnitOfWorkError) {
        switch error.reason {
        case .full: self.init(507, detail: "There is no room for the changes. Nothing was changed.")
        case .denied: self.init(403, detail: "The changes are not permitted. Nothing was changed.")
        default: self.init(503, detail: "Nothing was changed. Try again later.")
        }
    }
}

extension RepositoryError.Reason {
    /// The kind of repository failure that a fetch error amounts to.
    package init(_ error: FetchError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .closed: .closed
            // What the token endpoint says is about the credentials, and not about the resource.
            case _ where error.lacksCredentials: error.isDenied ? .denied : .unavailable
            case .rejected, .unreachable, .untrusted, .timedOut, .interrupted, .tooManyRedirects: .unavailable
            case .invalidRequest: .refused
            case .tooLarge, .unreadable: .unreadable
            case .unsuccessful: error.status.map(Self.init) ?? .unavailable
            }
    }

    fileprivate init(_ status: DataResponse.Status) {
        self =
            switch status.code {
            case 401, 403, 407, 511: .denied
            case 404, 410: .notFound
            case 409, 412: .conflict
            case 408, 421, 423, 425, 429: .unavailable
            case 400..<500: .refused
            default: .unavailable
            }
    }
}

extension FetchError {
    /// Whether the user has to sign in again: by the renewal of the credentials, or by the token endpoint's answer.
    fileprivate var isDenied: Bool { needsSignIn || status.map(RepositoryError.Reason.init) == .denied }
}
