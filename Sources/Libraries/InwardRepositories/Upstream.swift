import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where entities come from: an address, and the data fetcher that answers for what lies below it.
///
/// Share one among the repositories of a source.
public struct Upstream: Sendable {
    /// The address that the paths of the repositories are relative to.
    public let baseURL: URL
    /// What answers for the addresses below the upstream's own.
    public let dataFetcher: any DataFetcher

    /// Makes an upstream.
    ///
    /// - Parameters:
    ///   - baseURL: The address that the paths of the repositories are relative to, such as `https://example.org/api`.
    ///   - dataFetcher: What answers for the addresses below it.
    public init(baseURL: URL, dataFetcher: any DataFetcher) {
        self.baseURL = baseURL
        self.dataFetcher = dataFetcher
    }

    /// This upstream, asked through another data fetcher.
    package func asked(through dataFetcher: any DataFetcher) -> Upstream {
        Upstream(baseURL: baseURL, dataFetcher: dataFetcher)
    }

    /// Asks for what is at a path.
    ///
    /// - Parameters:
    ///   - path: Where it is, as the components of a path relative to the upstream.
    ///   - query: What is asked for there.
    ///   - bypassingCaches: Whether caches on the way must ask the upstream.
    /// - Returns: the answer, whatever its status.
    /// - Throws: a `RepositoryError` if there is none.
    func read(
        _ path: [String],
        _ query: [URLQueryItem] = [],
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> UpstreamAnswer {
        // RFC 3986 section 5.2.4: these lead elsewhere, however they are written.
        guard path.allSatisfy({ !["", ".", ".."].contains($0) }) else {
            throw RepositoryError(.refused, request: description(of: path), explanation: "was not sent: it is no path")
        }
        var request = DataRequest(url: url(of: path, query), headerFields: Self.acceptJSON)
        // RFC 9111 section 5.2.1.4: caches on the way must ask the source.
        if bypassingCaches { request.headerFields[.cacheControl] = "no-cache" }
        return UpstreamAnswer(request: request, response: try await response(to: request))
    }

    /// Where what is at a path is.
    func address(of path: [String]) -> URL { url(of: path, []) }

    /// The request for what is at a path, as messages say it.
    func description(of path: [String]) -> String { DataRequest(url: url(of: path, [])).description }

    private func url(of path: [String], _ query: [URLQueryItem]) -> URL {
        var url = path.reduce(baseURL) { $0.appending(component: $1) }
        if !query.isEmpty { url.append(queryItems: query) }
        return url
    }

    /// Sends a new record, once, and makes of the answer what it says.
    func create<Created>(
        _ body: Data,
        path: [String],
        _ created: (Data) throws(FieldError) -> Created
    ) async throws(RepositoryError) -> Created {
        var request = DataRequest(method: .post, url: url(of: path, []), headerFields: Self.acceptJSON)
        request.headerFields.append(HeaderField(.contentType, "application/json; charset=utf-8"))
        request.body = body
        let response = try await response(to: request, mayWrite: true)
        guard response.status.isSuccess else {
            throw RepositoryError(FetchError(response, to: request), mayHaveWritten: true)
        }
        guard response.fallbackReason == nil else {
            // What was done elsewhere may have been done, but not where it was to be.
            throw RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was answered by another than the upstream"
            )
        }
        do {
            return try created(response.body)
        } catch {
            throw RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was accepted, but the answer to it cannot be used: \(error)"
            )
        }
    }

    private func response(
        to request: DataRequest,
        mayWrite: Bool = false
    ) async throws(RepositoryError) -> DataResponse {
        do throws(FetchError) {
            return try await dataFetcher.fetch(request)
        } catch {
            throw RepositoryError(error, mayHaveWritten: mayWrite)
        }
    }

    private static let acceptJSON: HeaderFields = [HeaderField(.accept, "application/json")]
}

/// What an upstream has answered to a read.
struct UpstreamAnswer {
    let request: DataRequest
    let response: DataResponse

    /// How long it took from the request to the answer.
    var delay = Duration.zero

    /// Whether the answer was kept on the way, and so may be from before the request.
    var isCopy: Bool { response.origin != .upstream || response.headerFields[.age] != nil }

    /// How long before the request the answer was made, by what caches on the way say (RFC 9111 section 5.1).
    var ageAtRequest: Duration { response.headerFields.ageValue ?? .zero }

    /// How old the answer is (RFC 9111 section 4.2.3). Nobody knows when a copy was taken, so all of its way counts. An answer at
    /// first hand was made for the request, and is not old however long it took.
    var age: Duration { response.headerFields.ageValue.map { $0 + delay } ?? .zero }

    /// Whether it may be kept: it is the upstream's own answer, which does not say that nobody may keep it.
    var mayBeKept: Bool {
        response.fallbackReason == nil && response.headerFields.cacheDirectives["no-store"] == nil
    }

    /// What the answer says.
    ///
    /// - Throws: a `RepositoryError` if it is none of success, or cannot be understood.
    func decoded<Value>(by decode: (Data) throws(FieldError) -> Value) throws(RepositoryError) -> Value {
        guard response.status.isSuccess else {
            throw RepositoryError(FetchError(response, to: request), mayHaveWritten: false)
        }
        do {
            return try decode(response.body)
        } catch {
            throw RepositoryError(unreadable: error, of: request)
        }
    }

    /// A reading of what it says, which is stale if a cache on the way has had it for longer than answers are fresh.
    func reading<Value>(
        _ value: Value,
        fresh: Duration,
        rejected: [RejectedRecord] = []
    ) -> Reading<Value> {
        Reading(
            value,
            origin: response.origin,
            age: age,
            isStale: age > .zero && age >= fresh,
            rejected: rejected,
            fallbackReason: response.fallbackReason.map { RepositoryError($0, mayHaveWritten: false) }
        )
    }
}

extension RepositoryError {
    /// Translates what kept a request from being answered, which a write may have been done in spite of.
    init(_ error: FetchError, mayHaveWritten: Bool) {
        let reason = mayHaveWritten && error.leavesOutcomeUnknown ? .outcomeUnknown : Reason(error)
        let delay: Duration? = if case .delay(let delay) = error.retryAfter { delay } else { nil }
        self.init(
            reason,
            request: error.request,
            explanation: error.explanation,
            canRetry: error.canRetry && reason != .outcomeUnknown,
            retryAfter: delay
        )
    }

    /// The error that an answer is which cannot be understood.
    init(unreadable error: FieldError, of request: DataRequest) {
        self.init(
            .unreadable,
            request: request.description,
            explanation: "was answered with what cannot be used: \(error)"
        )
    }

}

extension RepositoryError.Reason {
    fileprivate init(_ error: FetchError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .closed: .closed
            case .rejected, .unreachable, .untrusted, .timedOut, .interrupted, .tooManyRedirects: .unavailable
            case .invalidRequest: .refused
            case .tooLarge, .unreadable: .unreadable
            case .unsuccessful: error.status.map(Self.init) ?? .unavailable
            }
    }

    private init(_ status: DataResponse.Status) {
        self =
            switch status.code {
            case 401, 403, 407, 511: .denied
            case 404, 410: .notFound
            case 408, 421, 423, 425, 429: .unavailable
            case 400..<500: .refused
            default: .unavailable
            }
    }
}
