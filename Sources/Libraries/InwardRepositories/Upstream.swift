public import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The source of entities: a base URL, and the data fetcher that answers requests below it.
///
///     let upstream = Upstream(baseURL: URL(string: "https://example.org/api")!, dataFetcher: dataFetcher)
///
/// Share one upstream among all repositories of a source.
public struct Upstream: Sendable {
    /// The URL that the paths of endpoints are relative to.
    public let baseURL: URL
    /// The data fetcher that answers requests below the base URL.
    public let dataFetcher: any DataFetcher

    /// Creates an upstream.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that the paths of endpoints are relative to, such as `https://example.org/api`. Its query is sent
    ///     with each request, and does not distinguish upstreams in a store, because it may be a secret.
    ///   - dataFetcher: The data fetcher that answers requests below it.
    public init(baseURL: URL, dataFetcher: any DataFetcher) {
        self.baseURL = baseURL
        self.dataFetcher = dataFetcher
    }

    /// Returns this upstream with another data fetcher.
    package func asked(through dataFetcher: any DataFetcher) -> Upstream {
        Upstream(baseURL: baseURL, dataFetcher: dataFetcher)
    }

    /// The name of the upstream in the keys of a store: its base URL without user name, password, query and fragment, which may
    /// be secrets. A trailing slash makes no difference.
    var nameInStore: String {
        guard var address = URLComponents(url: baseURL.absoluteURL.standardized, resolvingAgainstBaseURL: true) else {
            return baseURL.path()
        }
        (address.user, address.password, address.query, address.fragment) = (nil, nil, nil, nil)
        let name = address.string ?? ""
        return name.hasSuffix("/") ? String(name.dropLast()) : name
    }

    /// Reads a value other than an entity, such as a count or a report, with the upstream's resilience and response cache.
    ///
    ///     let report = try await upstream.value(ReportDTO.self, at: "posts/report", query: [("year", "2026")])
    ///
    /// - Parameters:
    ///   - type: The type of the response body.
    ///   - path: The path, relative to the upstream.
    ///   - query: The query fields.
    ///   - format: The format of the response.
    /// - Returns: a reading of the value.
    /// - Throws: a `RepositoryError` if the value is not available.
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
    ///   - validator: The validator of the version that is known, which need not be sent again; `nil` if none is.
    /// - Returns: the response, whatever its status.
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
    /// - Throws: a `RepositoryError` if the path leads elsewhere.
    func url(of path: [String], _ query: [URLQueryItem]) throws(RepositoryError) -> URL {
        // RFC 3986 section 5.2.4: these components lead elsewhere, even if they are percent-encoded.
        guard path.allSatisfy({ !["", ".", ".."].contains($0) }) else {
            throw RepositoryError(.refused, request: description(of: path), explanation: "was not sent: it is no path")
        }
        return address(of: path, query)
    }

    private func address(of path: [String], _ query: [URLQueryItem]) -> URL {
        var url = path.reduce(baseURL) { $0.appending(component: $1) }
        if !query.isEmpty { url.append(queryItems: query) }
        return url
    }

    /// Returns a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL.
    ///   - mediaType: The media type to ask for.
    ///   - body: The body, and its media type; `nil` for none.
    /// - Returns: the request.
    func request(
        _ method: DataRequest.Method,
        to url: URL,
        accept mediaType: String,
        body: (bytes: Data, mediaType: String)? = nil
    ) -> DataRequest {
        // Almost every request asks for JSON, and shares this array.
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

    /// Sends a write, once, and decodes the response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - decode: Decodes the response.
    /// - Returns: what the response describes.
    /// - Throws: a `RepositoryError`: `outcomeUnknown` if the write may have been done.
    func write<Written>(
        _ request: DataRequest,
        _ decode: (DataResponse) throws(FieldError) -> Written
    ) async throws(RepositoryError) -> Written {
        // Not left to the data fetcher, which may not notice either before the request has been sent.
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
            // Another source answered. The write may have been done, but not at the upstream.
            throw RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was answered by another than the upstream"
            )
        }
        do {
            return try decode(response)
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
}

/// An upstream's response to a read.
struct UpstreamAnswer {
    let request: DataRequest
    let response: DataResponse

    /// The time between the request and the response.
    var delay = Duration.zero

    /// Whether the response comes from a cache, and so may predate the request.
    var isCopy: Bool { response.origin != .upstream || response.headerFields[.age] != nil }

    /// The age of the response at the time of the request, according to intermediate caches (RFC 9111 section 5.1).
    var ageAtRequest: Duration { response.headerFields.ageValue ?? .zero }

    /// The age of the response (RFC 9111 section 4.2.3). It is not known when a cache took its copy, so the whole delay counts. A
    /// response from the upstream itself was made for the request, and its age is zero regardless of the delay.
    var age: Duration { response.headerFields.ageValue.map { $0 + delay } ?? .zero }

    /// Whether the response may be cached: it comes from the upstream itself, which has not forbidden storing it.
    var mayBeKept: Bool {
        response.fallbackReason == nil && response.headerFields.cacheDirectives["no-store"] == nil
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

    /// Returns a reading of a value. It is stale if an intermediate cache has held the response for longer than responses are
    /// fresh.
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
    /// Translates a fetch error. A write may have been done in spite of it.
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
            explanation: "was answered with what cannot be used: \(error)"
        )
    }
}

/// A validator of a version of a resource (RFC 9110 section 8.8): its entity tag, or when it was last modified.
@usableFromInline
struct Validator: Hashable, Sendable {
    /// The value of the header field, exactly as sent.
    let text: String

    init(text: String) {
        self.text = text
    }

    /// Creates the validator of a response; `nil` if it has none.
    init?(_ fields: HeaderFields) {
        guard let text = fields[.etag] ?? fields[.lastModified], !text.isEmpty else { return nil }
        self.text = text
    }

    private var isEntityTag: Bool { text.hasPrefix("\"") || text.hasPrefix("W/\"") }

    /// The entity tag, if it is strong. A write needs one; a weak tag, or a date, may be that of several versions.
    var entityTag: String? { HeaderFields.isStrongEntityTag(text) ? text : nil }

    /// The header field with which to ask whether there is another version.
    var conditionName: HeaderField.Name { isEntityTag ? .ifNoneMatch : .ifModifiedSince }
}
