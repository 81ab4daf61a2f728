import InwardCore
import InwardTransfers

/// An error that knows the response of a server that shows it.
///
///     extension OrderError: ProblemDetailsConvertible {
///         public var problemDetails: ProblemDetails {
///             switch self {
///             case .unknownArticle: .notFound
///             case .soldOut: ProblemDetails(409, detail: "The article is sold out. Order another one.")
///             case .unavailable(let cause): ProblemDetails(cause)
///             }
///         }
///     }
public protocol ProblemDetailsConvertible: Error {
    /// The response. Its text must not contain credentials, or anything else that a client must not see.
    var problemDetails: ProblemDetails { get }
}

extension ProblemDetails {
    /// Creates the problem for an error of a port.
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
    /// | | `unsuccessful` with another 4xx but 408, 421, 423, 425 and 429; `invalidRequest` | 422 |
    /// | | `unreadable`, `tooLarge` | 502 |
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
    /// | `ScopeError` of `InwardScopes` | no work had begun | 503 |
    /// | | work had begun | 504 |
    /// | `SessionRegistryError` of `InwardScopes` | `failed` | 500 |
    /// | | `full`, `closed`, `cancelled`, `deadlinePassed` | 503 |
    /// | ``ResilienceError`` | | 503, with `Retry-After` if it is known |
    /// | `DeadlinePassedError`, `CancellationError` | | 503 |
    /// | ``ProblemDetailsConvertible`` | | its own |
    /// | any other | | 500 |
    ///
    /// An `ImageError` is about an image that the server loaded for the client, which cannot do anything about a damaged one. An
    /// `ImageCodecError` is about bytes that the server was given, such as an upload.
    ///
    /// A fetch does not know whether it was to change anything, so a ``FetchError`` is never shown as an unknown outcome. After an
    /// upload by a `DataSaver`, the detail says that the data may have been saved.
    public init(_ error: any Error) {
        self =
            switch error {
            case let problem as ProblemDetails: problem
            case let error as any ProblemDetailsConvertible: error.problemDetails
            case let error as RepositoryError: Self(error)
            case let error as UnitOfWorkError: Self(error)
            case let error as FetchError: Self(error)
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

    private init(_ error: FetchError) {
        let delay: Duration? = if case .delay(let delay) = error.retryAfter { delay } else { nil }
        self.init(RepositoryError.Reason(error).code, retryAfter: delay)
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
