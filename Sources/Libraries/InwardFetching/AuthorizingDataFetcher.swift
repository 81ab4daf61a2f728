#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that adds credentials to requests for their origin.
///
/// ```swift
/// let mine = orders.authorizing(with: .bearer(token), for: url)
/// let order = try await mine.fetchData(from: url)  // Has the token, because the URL has the same origin.
/// ```
///
/// If the origin rejects the credentials (401, RFC 9110 section 15.5.2), the fetcher renews them and sends the request once
/// more, unless they are not renewable or were just renewed. It also renews credentials with a known lifetime before they
/// expire; see ``Credentials``.
///
/// A redirect to another origin drops the credentials, because their header field is sensitive. A request that would expose
/// them over plain HTTP to another machine is not sent unless you allow it.
public struct AuthorizingDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    var observers = FetchObservers()
    private let credentials: Credentials

    init(_ base: any DataFetcher, credentials: Credentials) {
        self.base = base
        self.credentials = credentials
    }

    /// The description of this layer, with the credentials' origin.
    public var layer: DataFetcherLayer { DataFetcherLayer(.authorization, "sends \(credentials)") }

    /// Adds the credentials to a request for their origin, replacing any value of their header field, and returns the response.
    ///
    /// - Throws: Errors of the wrapped fetcher and of the renewal; a ``FetchError`` with ``FetchError/Reason/rejected`` if the
    ///   credentials would travel over plain HTTP to another machine, if they cannot be renewed, or if it is too soon to renew
    ///   them again.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard WebOrigin(request.url) == credentials.origin else { return try await base.fetch(request) }
        guard !credentials.origin.isExposed || credentials.mayBeExposed else { throw exposed(request) }
        let edition = try await credentials.edition(for: request)
        let response = try await base.fetch(authorized(request, by: edition))
        guard credentials.areRenewable, isOfOrigin(response) else { return response }
        guard response.status == .unauthorized else {
            credentials.noteAccepted(edition)
            return response
        }
        guard let next = try await credentials.renewed(after: edition, for: request) else {
            var denied = response
            denied.retries = RetryReport(
                attempts: request.attempt,
                ending: "not repeated with new credentials, \(credentials.reasonNotToRenew)"
            )
            return denied
        }
        observers.tell { $0.credentialsRefreshed(for: request) }
        return try await fetchAgain(request, by: next)
    }

    private func fetchAgain(_ request: DataRequest, by edition: Credentials.Edition) async throws(FetchError)
        -> DataResponse
    {
        var again = authorized(request, by: edition)
        again.attempt += 1
        let ending = "the last with new credentials"
        do throws(FetchError) {
            var response = try await base.fetch(again)
            if isOfOrigin(response), response.status != .unauthorized { credentials.noteAccepted(edition) }
            response.retries = response.retries ?? RetryReport(attempts: again.attempt, ending: ending)
            return response
        } catch {
            throw error.wasSent ? error.reporting(RetryReport(attempts: again.attempt, ending: ending)) : error
        }
    }

    /// Returns whether the credentials' origin sent the response. A redirect may have led to another origin, which never saw
    /// the credentials.
    private func isOfOrigin(_ response: DataResponse) -> Bool {
        response.url.map { WebOrigin($0) == credentials.origin } ?? true
    }

    private func exposed(_ request: DataRequest) -> FetchError {
        // Not `invalidRequest`: the configuration may change, so an outbox keeps its writes and retries them.
        FetchError(
            .rejected,
            request: request,
            explanation: """
                was not sent, because anyone on the network path could read its credentials. Use an https URL, or allow plain \
                HTTP for these credentials
                """
        )
    }

    private func authorized(_ request: DataRequest, by edition: Credentials.Edition) -> DataRequest {
        guard let field = edition.field else { return request }
        var request = request
        request.headerFields[field.name] = nil
        request.headerFields.append(field)
        return request
    }
}

extension DataFetcher {
    /// Returns this fetcher with credentials for their origin.
    ///
    /// ```swift
    /// let credentials = Credentials(for: url) { .bearer(token, expiresIn: .seconds(3_600)) }
    /// let api = orders.authorizing(with: credentials)
    /// ```
    public func authorizing(with credentials: Credentials) -> AuthorizingDataFetcher {
        AuthorizingDataFetcher(self, credentials: credentials)
    }

    /// Returns this fetcher with credentials for one origin: the scheme, host and port of a URL (RFC 6454).
    ///
    /// ```swift
    /// let api = orders.authorizing(with: .bearer(token), for: url)
    /// ```
    ///
    /// - Parameters:
    ///   - field: The header field with the credentials, such as ``HeaderField/bearer(_:)``. It is treated as sensitive
    ///     regardless of its name.
    ///   - url: A URL of the origin that the credentials are for.
    ///   - allowingPlainHTTP: Whether to send the credentials over plain HTTP to another machine, where anyone on the network
    ///     path can read them.
    /// - Returns: The authorizing fetcher.
    public func authorizing(
        with field: HeaderField,
        for url: URL,
        allowingPlainHTTP: Bool = false
    ) -> AuthorizingDataFetcher {
        authorizing(with: Credentials(field, for: url, allowingPlainHTTP: allowingPlainHTTP))
    }
}
