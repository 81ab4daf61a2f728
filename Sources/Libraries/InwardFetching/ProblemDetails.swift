/// The response of a server to a request that it cannot answer (RFC 9457), from the error of a port.
///
///     do {
///         return try await showUser(id)
///     } catch {
///         let problem = ProblemDetails(error)
///         return Response(status: problem.status, headers: problem.headerFields, body: try JSONEncoder().encode(problem))
///     }
///
/// ``init(_:)`` has a table of the errors and their statuses. Its texts are fixed: they name neither the upstream, nor its addresses,
/// nor credentials. Report the error itself to an error handler.
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
    /// 403: the caller may not see or change this.
    public static let denied = Self(403, detail: "You may not see or change this. Sign in, or ask for access.")
    /// 404: nothing is here.
    public static let notFound = Self(404, detail: "There is nothing at this address.")
    /// 409: there is another version than the one that the change was made for.
    public static let conflict = Self(
        409,
        detail: "This was changed in the meantime. Read it again, and then change it."
    )
    /// 415: the content of the request has a format that is not supported.
    public static let unsupported = Self(
        415,
        detail: "The content has a format that is not supported. Send it in another."
    )
    /// 422: the request cannot succeed as it is.
    public static let refused = Self(422, detail: "The request was refused. Change it before you send it again.")
    /// 500: the cause is not known, or not the client's concern.
    public static let internalError = Self(
        500,
        detail: "Something went wrong. A retry may fail again."
    )
    /// 502: an upstream gave an answer that cannot be used.
    public static let unreadable = Self(
        502,
        detail: "A service behind this one gave an answer that cannot be used."
    )
    /// 503: the request cannot be answered at the moment.
    public static let unavailable = Self.unavailable(retryAfter: nil)
    /// 504: whether the change was made is not known.
    public static let outcomeUnknown = Self(
        504,
        detail: "Whether the change was made is not known. Read before you send it again."
    )
    /// 507: storage is full, and the change was not made.
    public static let full = Self(507, detail: "There is no room for the changes. Nothing was changed.")

    /// 503: the request cannot be answered at the moment.
    ///
    /// - Parameter retryAfter: How long the client should wait before a retry; `nil` if it is not known.
    /// - Returns: The problem.
    public static func unavailable(retryAfter: Duration?) -> Self {
        Self(503, detail: "The service cannot answer at the moment. Try again later.", retryAfter: retryAfter)
    }
}
