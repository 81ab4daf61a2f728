public import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A source of entities: a base URL and the data fetcher that sends requests to the URLs below it.
///
/// ```swift
/// let upstream = Upstream(
///     baseURL: URL(string: "https://example.org/api")!,
///     dataFetcher: URLSessionDataFetcher()
/// )
/// let comments = Repository(endpoint, upstream: upstream)
/// ```
///
/// Share one upstream among all repositories that use it.
public struct Upstream: Sendable {
    /// The URL that the paths of endpoints are relative to.
    public let baseURL: URL
    /// The data fetcher that sends requests to the URLs below the base URL.
    public let dataFetcher: any DataFetcher

    /// Creates an upstream.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that the paths of endpoints are relative to, such as `https://example.org/api`. Its query is sent
    ///     with each request. Keys in a store leave the query out, because it may contain a secret. So upstreams that differ
    ///     only in their query share records.
    ///   - dataFetcher: The data fetcher that sends requests to the URLs below it.
    public init(baseURL: URL, dataFetcher: any DataFetcher) {
        self.baseURL = baseURL
        self.dataFetcher = dataFetcher
    }

    /// Returns this upstream with another data fetcher.
    package func asked(through dataFetcher: any DataFetcher) -> Upstream {
        Upstream(baseURL: baseURL, dataFetcher: dataFetcher)
    }

    /// Returns the name in the keys of a store of an upstream that an app knows by a name. Two upstreams with the same address
    /// have different ones.
    package func nameInStore(as name: UpstreamName) -> String {
        // The address has no fragment, so an address with a name appended is never the address of another upstream.
        name == .standard ? nameInStore : "\(nameInStore)#\(name)"
    }

    /// The name of the upstream in the keys of a store: its base URL without user name, password, query, fragment and trailing
    /// slash. The parts that are left out may be secrets.
    var nameInStore: String {
        guard var address = URLComponents(url: baseURL.absoluteURL.standardized, resolvingAgainstBaseURL: true) else {
            return baseURL.path()
        }
        (address.user, address.password, address.query, address.fragment) = (nil, nil, nil, nil)
        let name = address.string ?? ""
        return name.hasSuffix("/") ? String(name.dropLast()) : name
    }

    /// Reads a value that is not an entity, such as a count or a report.
    ///
    /// ```swift
    /// struct ReportDTO: Decodable {
    ///     let commentCount: Int
    /// }
    /// let report = try await upstream.value(ReportDTO.self, at: "comments/report", query: [("year", "2026")])
    /// ```
    ///
    /// The data fetcher of the upstream applies its retries, limits and response cache. No repository caches the value.
    ///
    /// - Parameters:
    ///   - type: The type of the response body.
    ///   - path: The path, relative to the upstream.
    ///   - query: The query fields.
    ///   - format: The format of the response.
    /// - Returns: a reading of the value.
    /// - Throws: a `RepositoryError` if the value is not available or cannot be decoded.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type,
        at path: String,
        query: [(name: String, value: String)] = [],
        format: some RecordFormat = JSONFormat()
    ) async throws(RepositoryError) -> Reading<Value> {
        let url = try url(
            of: path.split(separator: "/").map(String.init),
            query.map { URLQueryItem(name: $0.name, value: $0.value) }
        )
        let answer = try await read(url, format, bypassingCaches: false)
        let value = try answer.decoded { body throws(FieldError) in try format.decoded(type, from: body) }
        return answer.reading(value, fresh: .seconds(Int64.max))
    }

    /// Requests the resource at a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - format: The format to ask for.
    ///   - bypassingCaches: Whether intermediate caches must revalidate with the upstream.
    ///   - validator: The validator of the cached version, for a conditional request, or `nil` for an unconditional one.
    /// - Returns: the response, with any status.
    /// - Throws: a `RepositoryError` if there is no response.
    func read(
        _ url: URL,
        _ format: any RecordFormat,
        bypassingCaches: Bool,
        behind validator: Validator? = nil
    ) async throws(RepositoryError) -> UpstreamAnswer {
        var request = request(.get, to: url, accept: format.mediaType)
        if let validator { request.headerFields[validator.conditionName] = validator.text }
        // RFC 9111 section 5.2.1.4: intermediate caches must revalidate with the source.
        if bypassingCaches { request.headerFields[.cacheControl] = "no-cache" }
        return UpstreamAnswer(request: request, response: try await response(to: request))
    }

    /// Returns the URL of a path.
    func address(of path: [String]) -> URL { address(of: path, []) }

    /// Returns the description, for messages, of the request for a path.
    func description(of path: [String]) -> String { DataRequest(url: address(of: path)).description }

    /// Returns the URL of a path and a query.
    ///
    /// - Throws: a `RepositoryError` if a component of the path is empty, `.` or `..`.
    func url(of path: [String], _ query: [URLQueryItem]) throws(RepositoryError) -> URL {
        // RFC 3986 section 5.2.4: these components would change the path, even percent-encoded.
        guard path.allSatisfy({ !["", ".", ".."].contains($0) }) else {
            throw RepositoryError(
                .refused,
                request: description(of: path),
                explanation: "was not sent: its path has a component that is empty, “.” or “..”"
            )
        }
        return address(of: path, query)
    }

    private func address(of path: [String], _ query: [URLQueryItem]) -> URL {
        var url = path.reduce(baseURL) { $0.appending(component: $1) }
        if !query.isEmpty { url.append(queryItems: query) }
        return url
    }

    /// Returns a request with its `Accept` and `Content-Type`.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL.
    ///   - mediaType: The media type to ask for.
    ///   - body: The body and its media type, or `nil` for no body.
    /// - Returns: the request.
    func request(
        _ method: DataRequest.Method,
        to url: URL,
        accept mediaType: String,
        body: (bytes: Data, mediaType: String)? = nil
    ) -> DataRequest {
        // Almost every request asks for JSON, so all of them share one array.
        let fields = mediaType == JSONFormat.mediaType ? Self.acceptJSON : [HeaderField(.accept, mediaType)]
        var request = DataRequest(method: method, url: url, headerFields: fields)
        guard let body else { return request }
        let isJSON = body.mediaType == JSONFormat.mediaType
        request.headerFields.append(
            HeaderField(.contentType, isJSON ? "application/json; charset=utf-8" : body.mediaType)
        )
        request.body = body.bytes
        return request
    }

    private static let acceptJSON: HeaderFields = [HeaderField(.accept, JSONFormat.mediaType)]

    /// Sends a write once and decodes the response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - decode: Decodes the response.
    /// - Returns: the decoded response.
    /// - Throws: a `RepositoryError`: `outcomeUnknown` if the upstream may have done the write.
    func write<Written>(
        _ request: DataRequest,
        _ decode: (DataResponse) throws(FieldError) -> Written
    ) async throws(RepositoryError) -> Written {
        // Checked here, because a data fetcher may send the request before it notices a cancellation or a deadline.
        if Task.isCancelled {
            throw RepositoryError(
                .cancelled,
                request: request.description,
                explanation: "was not sent: the task was cancelled"
            )
        }
        if Deadline.current?.hasPassed == true {
            throw RepositoryError(
                .unavailable,
                request: request.description,
                explanation: "was not sent: the deadline has passed"
            )
        }
        let response = try await response(to: request, mayWrite: true)
        guard response.status.isSuccess else {
            throw RepositoryError(FetchError(response, to: request), mayHaveWritten: true)
        }
        guard response.fallbackReason == nil else {
            // The response is a fallback from another source. The upstream may have done the write, or not.
            throw RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was answered by a fallback, so it is not known whether the upstream did it"
            )
        }
        do {
            return try decode(response)
        } catch {
            throw RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was accepted, but the response cannot be used: \(error)"
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
}

/// An upstream's response to a read.
struct UpstreamAnswer {
    let request: DataRequest
    let response: DataResponse

    /// The duration from the request to the response.
    var delay = Duration.zero

    /// Whether the response comes from a cache, so that it may be older than the request.
    var isCopy: Bool { response.origin != .upstream || response.headerFields[.age] != nil }

    /// The age of the response at the time of the request, according to intermediate caches (RFC 9111 section 5.1).
    var ageAtRequest: Duration { response.headerFields.ageValue ?? .zero }

    /// The age of the response (RFC 9111 section 4.2.3). For a cached response, it includes the whole delay, because the time
    /// at which the cache answered is not known. For a response from the upstream itself, it is zero, whatever the delay.
    var age: Duration { response.headerFields.ageValue.map { $0 + delay } ?? .zero }

    /// Whether the response may be cached: it is not a fallback, and the upstream does not forbid storing it.
    var mayBeKept: Bool {
        response.fallbackReason == nil && !response.headerFields.forbidsStoring
    }

    /// Decodes the response.
    ///
    /// - Throws: a `RepositoryError` if the status is not a success or the response cannot be decoded.
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

    /// Returns a reading of a value. The reading is stale if an intermediate cache held the response for longer than `fresh`.
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
    /// Translates a fetch error. With `mayHaveWritten`, an error that leaves the outcome open becomes `outcomeUnknown`.
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

    /// Creates the error for a response that cannot be decoded.
    init(unreadable error: FieldError, of request: DataRequest) {
        self.init(
            .unreadable,
            request: request.description,
            explanation: "has a response that cannot be used: \(error)"
        )
    }
}

/// A validator of a version of a resource (RFC 9110 section 8.8): its entity tag or its date of last modification.
@usableFromInline
struct Validator: Hashable, Sendable {
    /// The value of the header field, exactly as sent.
    let text: String

    init(text: String) {
        self.text = text
    }

    /// Creates the validator of a response. Returns `nil` if the response has none.
    init?(_ fields: HeaderFields) {
        guard let text = fields[.etag] ?? fields[.lastModified], !text.isEmpty else { return nil }
        self.text = text
    }

    private var isEntityTag: Bool { text.hasPrefix("\"") || text.hasPrefix("W/\"") }

    /// The entity tag, if it is strong. Only a strong tag identifies a single version, as `If-Match` requires.
    var entityTag: String? { HeaderFields.isStrongEntityTag(text) ? text : nil }

    /// The header field of a conditional request with this validator.
    var conditionName: HeaderField.Name { isEntityTag ? .ifNoneMatch : .ifModifiedSince }
}
