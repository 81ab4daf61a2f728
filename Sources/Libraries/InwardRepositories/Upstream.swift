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
        guard response.degradation == nil else {
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
