import InwardCore
import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The error response of an HTTP server (RFC 9457).
///
/// ```swift
/// do {
///     print(try await orders.fetchData(from: url).count)
/// } catch {
///     let problem = ProblemDetails(error)
///     let body = try JSONEncoder().encode(problem)
///     print(problem.status.code, problem.headerFields, body.count)
/// }
/// ```
///
/// ``init(_:at:)`` creates it from an error, and has a table of errors and statuses. The texts for the errors of this package are
/// fixed: they contain no names or URLs of the upstream, and no credentials. Report the error itself to an error handler. See
/// <doc:ServingErrors>.
public struct ProblemDetails: Error, Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The media type of the encoded problem.
    public static let mediaType = "application/problem+json"

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance
    }

    /// A URI that identifies the kind of problem. `about:blank` says no more than the status does.
    public var type = "about:blank"
    /// The status of the response.
    public let status: DataResponse.Status
    /// The registered phrase of the status, such as `Not Found`.
    public let title: String
    /// A human-readable text that says what happened and what to do.
    public let detail: String
    /// A URI that identifies this occurrence, such as that of the request; `nil` for none.
    public var instance: String?
    /// How long the client should wait before a retry; `nil` if unknown.
    public var retryAfter: Duration?

    /// Creates a problem.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - detail: A human-readable text that says what happened and what to do. It must not contain credentials.
    ///   - retryAfter: How long the client should wait before a retry; `nil` if unknown.
    public init(_ status: DataResponse.Status, detail: String, retryAfter: Duration? = nil) {
        self.status = status
        self.title = status.phrase ?? "Unknown"
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// The header fields of the response: the media type, and `Retry-After` in whole seconds, rounded up, if the client should
    /// wait.
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
    /// 404: the resource does not exist.
    public static let notFound = Self(404, detail: "There is nothing at this address.")
    /// 409: the resource has changed since the client read the version that it wants to change.
    public static let conflict = Self(
        409,
        detail: "This was changed in the meantime. Read it again, and then change it."
    )
    /// 415: the content of the request has a format that is not supported.
    public static let unsupported = Self(
        415,
        detail: "The format of the content is not supported. Send it in another format."
    )
    /// 422: the request cannot succeed unless the client changes it.
    public static let refused = Self(422, detail: "The request was refused. Change it before you send it again.")
    /// 500: an internal error, or one whose cause is unknown.
    public static let internalError = Self(
        500,
        detail: "An internal error occurred. A retry may fail again."
    )
    /// 502: the response of an upstream cannot be used.
    public static let unreadable = Self(
        502,
        detail: "An upstream service returned a response that cannot be used."
    )
    /// 503: the request cannot be answered at the moment.
    public static let unavailable = Self.unavailable(retryAfter: nil)
    /// 504: it is unknown whether the change was made.
    public static let outcomeUnknown = Self(
        504,
        detail: "It is not known whether the change was made. Read the current state before you send it again."
    )
    /// 507: storage is full, and the change was not made.
    public static let full = Self(507, detail: "Storage is full. Nothing was changed.")

    /// 503: the request cannot be answered at the moment.
    ///
    /// - Parameter retryAfter: How long the client should wait before a retry; `nil` if unknown.
    /// - Returns: The problem.
    public static func unavailable(retryAfter: Duration?) -> Self {
        Self(503, detail: "The service cannot answer at the moment. Try again later.", retryAfter: retryAfter)
    }
}

/// An error that defines its own response.
///
/// ```swift
/// enum OrderError: ProblemDetailsConvertible {
///     case unknownItem
///     case soldOut
///     case unavailable(FetchError)
///
///     var problemDetails: ProblemDetails {
///         switch self {
///         case .unknownItem: .notFound
///         case .soldOut: ProblemDetails(409, detail: "The item is sold out. Order another one.")
///         case .unavailable(let cause): ProblemDetails(cause)
///         }
///     }
/// }
/// ```
public protocol ProblemDetailsConvertible: Error {
    /// The response. Its text must not contain credentials or anything else that a client must not see.
    var problemDetails: ProblemDetails { get }
}

extension ProblemDetails {
    /// Creates the response for an error.
    ///
    /// | error | reason | status |
    /// |---|---|---|
    /// | `RepositoryError` | `notFound` | 404 |
    /// | | `denied` | 403 |
    /// | | `conflict` | 409 |
    /// | | `refused` | 422 |
    /// | | `unreadable` | 502 |
    /// | | `outcomeUnknown` | 504 |
    /// | | `unavailable` | 503, with `Retry-After` if it is known |
    /// | | `closed`, `cancelled` | 503 |
    /// | `WriteError` of `InwardRepositories` | `conflict` | 409 |
    /// | | `failed` | that of its `RepositoryError` |
    /// | `UnitOfWorkError` | `denied` | 403 |
    /// | | `full` | 507 |
    /// | | `foreign` | 500 |
    /// | | `unavailable`, `closed`, `cancelled` | 503 |
    /// | `RecordStoreError` of `InwardRepositories` | `full` | 507 |
    /// | | `denied` | 500 |
    /// | | `busy`, `closed`, `cancelled`, `unavailable` | 503 |
    /// | ``FetchError`` | `unsuccessful` with 404 or 410 | 404 |
    /// | | `unsuccessful` with 401, 403, 407 or 511 | 403 |
    /// | | `unsuccessful` with 409 or 412 | 409 |
    /// | | `unsuccessful` with another 4xx, except 408, 421, 423, 425 and 429 | 422 |
    /// | | `invalidRequest`, `addressRefused` | 422 |
    /// | | `unreadable`, `tooLarge` | 502 |
    /// | | credentials that cannot be renewed until the user signs in again | 403 |
    /// | | any other | 503, with `Retry-After` if it is known |
    /// | `DataLoaderError` | the data does not exist | 404 |
    /// | | any other | 503 |
    /// | `DataSaverError` | | 503 |
    /// | `TransferDataError` | `unreadable` | that of its `DataLoaderError` |
    /// | | `limitExceeded` | 502 |
    /// | | `unwritable`, `restless`, `timedOut`, `cancelled` | 503 |
    /// | `ImageError`, with `InwardImageServing` | `notFound` | 404 |
    /// | | `denied` | 403 |
    /// | | `tooLarge`, `unsupported`, `damaged` | 502 |
    /// | | `unavailable`, `timedOut`, `cancelled` | 503 |
    /// | `ImageCodecError`, with `InwardImageServing` | `unrecognized`, `unsupported` | 415 |
    /// | | `damaged`, `truncated`, `unencodable` | 422 |
    /// | | `timedOut`, `cancelled` | 503 |
    /// | `ImageURLError` of `InwardImageServing` | `invalidSignature` | 403 |
    /// | | `expired` | 410 |
    /// | | `invalidAddress`, `invalidExpiry`, `invalidRecipe` | 422 |
    /// | `ImageRecipeError` of `InwardImageServing` | | 422 |
    /// | `ScopeError` of `InwardScopes` | no work had begun | 503 |
    /// | | work had begun | 504 |
    /// | `SessionRegistryError` of `InwardScopes` | `failed` | 500 |
    /// | | `full`, `closed`, `cancelled`, `deadlinePassed` | 503 |
    /// | ``ResilienceError`` | | 503, with `Retry-After` if it is known |
    /// | `DeadlinePassedError`, `CancellationError` | | 503 |
    /// | ``ProblemDetailsConvertible`` | | its own |
    /// | any other | | 500 |
    ///
    /// If a ``FetchError`` has a date for a retry, `Retry-After` is the time until then, by this computer's clock.
    ///
    /// If credentials could not be renewed, the status of the token endpoint concerns the credentials, not the resource. The
    /// statuses 401, 403, 407 and 511 of that endpoint become 403, and any other failure becomes 503.
    ///
    /// An `ImageError` concerns an image that the server loaded, so a damaged one is not the client's fault. An
    /// `ImageCodecError` concerns bytes that the client sent, such as an upload.
    ///
    /// A ``FetchError`` never becomes ``outcomeUnknown``, because it does not say whether the request was meant to change
    /// anything. After a failed upload by a `DataSaver`, the detail says that the data may have been saved.
    ///
    /// - Parameters:
    ///   - error: Any error.
    ///   - date: The current date, from which `Retry-After` counts.
    public init(_ error: any Error, at date: Date = .now) {
        self =
            switch error {
            case let problem as ProblemDetails: problem
            case let error as any ProblemDetailsConvertible: error.problemDetails
            case let error as RepositoryError: Self(error)
            case let error as UnitOfWorkError: Self(error)
            case let error as FetchError: Self(error, at: date)
            case let error as DataLoaderError: Self(error)
            case is DataSaverError: .unsaved
            case let error as TransferDataError: Self(error)
            case is DeadlinePassedError, is CancellationError: .unavailable
            default: .internalError
            }
    }

    private init(_ error: RepositoryError) {
        self.init(error.reason.code, retryAfter: error.retryAfter)
    }

    private init(_ error: FetchError, at date: Date) {
        // The client chose an address that it may not choose, and has to change it.
        if error.reason == .addressRefused {
            self = .refused
            return
        }
        self.init(RepositoryError.Reason(error).code, retryAfter: error.retryAfter?.delay(from: date))
    }

    private init(_ code: RepositoryError.Reason.Code, retryAfter: Duration?) {
        self =
            switch code {
            case .notFound: .notFound
            case .denied: .denied
            case .conflict: .conflict
            case .refused: .refused
            case .unreadable: .unreadable
            case .outcomeUnknown: .outcomeUnknown
            case .unavailable, .closed, .cancelled: .unavailable(retryAfter: retryAfter)
            }
    }

    private init(_ error: UnitOfWorkError) {
        self =
            switch error.reason.code {
            case .denied: Self(403, detail: "The changes are not permitted. Nothing was changed.")
            case .full: .full
            case .foreign: .internalError
            case .unavailable, .closed, .cancelled: Self(503, detail: "Nothing was changed. Try again later.")
            }
    }

    private init(_ error: DataLoaderError) {
        self = error.meansAbsence ? .notFound : .unavailable
    }

    private init(_ error: TransferDataError) {
        self =
            switch error {
            case .unreadable(let cause): Self(cause)
            case .limitExceeded: .unreadable
            case .unwritable: .unsaved
            case .restless: Self(503, detail: "The data changes too often to be read. Try again later.")
            case .timedOut, .cancelled: .unavailable
            }
    }

    private static let unsaved = Self(
        503,
        detail: "The data may not have been saved. Check before you send it again."
    )
}

extension RepositoryError.Reason {
    /// Creates the reason of a repository error for a fetch error.
    package init(_ error: FetchError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .closed: .closed
            // The status of a token endpoint concerns the credentials, not the resource.
            case _ where error.lacksCredentials: error.isDenied ? .denied : .unavailable
            // Not `refused`: names resolve to other addresses at other times, so an outbox keeps its writes and retries them.
            case .rejected, .addressRefused, .unreachable, .untrusted, .timedOut, .interrupted, .tooManyRedirects:
                .unavailable
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
    /// Whether the user must sign in again, because the renewal of the credentials or the token endpoint said so.
    fileprivate var isDenied: Bool { needsSignIn || status.map(RepositoryError.Reason.init) == .denied }
}
