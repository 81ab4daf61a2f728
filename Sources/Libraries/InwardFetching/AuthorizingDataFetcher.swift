#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that sends credentials along, and only to the origin that they are for.
///
/// Where a redirect leads elsewhere they are left behind, because the field that holds them is sensitive. Where the origin
/// does not take them (401, RFC 9110 section 15.5.2) they are renewed, if they can be and were not just before, and the request
/// is sent once more. A request that would carry them by plain http to another machine is not sent, unless that is allowed.
public struct AuthorizingDataFetcher: ReportingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    var observers = FetchObservers()
    private let credentials: Credentials

    init(_ base: any DataFetcher, credentials: Credentials) {
        self.base = base
        self.credentials = credentials
    }

    /// Where credentials are sent.
    public var layer: DataFetcherLayer { DataFetcherLayer(.authorization, "sends \(credentials)") }

    /// The answer to a request that has the credentials in place of any it had in that field, if it goes to their origin.
    ///
    /// - Throws: what the wrapped fetcher throws, and what renewing the credentials throws; a ``FetchError`` with
    ///   ``FetchError/Reason/rejected`` if the credentials would travel by plain http to another machine, or if there are none and it
    ///   is too soon to ask for some again.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard WebOrigin(request.url) == credentials.origin else { return try await base.fetch(request) }
        guard !credentials.origin.isExposed || credentials.mayBeExposed else { throw exposed(request) }
        var edition = credentials.newest
        if edition.field == nil {
            guard let first = try await credentials.renewed(after: edition, for: request) else {
                throw withoutCredentials(request)
            }
            edition = first
        }
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
                ending: "and no other with new credentials, \(credentials.reasonNotToRenew)"
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

    /// Whether the origin of the credentials answered. A redirect may have led to another, which never saw them.
    private func isOfOrigin(_ response: DataResponse) -> Bool {
        response.url.map { WebOrigin($0) == credentials.origin } ?? true
    }

    private func exposed(_ request: DataRequest) -> FetchError {
        // Not `invalidRequest`: the configuration can be changed, so an outbox keeps its writes and tries them again.
        FetchError(
            .rejected,
            request: request,
            explanation: """
                was not sent, because anybody on the way could read its credentials: use an address that begins with https, or \
                allow plain http for these credentials
                """
        )
    }

    private func withoutCredentials(_ request: DataRequest) -> FetchError {
        FetchError(
            .rejected,
            request: request,
            explanation: "was not sent: there are no credentials, and no new ones yet, \(credentials.reasonNotToRenew)",
            retryAfter: credentials.timeUntilRenewal.map { .delay($0) }
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
    /// This fetcher with credentials for their origin.
    public func authorizing(with credentials: Credentials) -> AuthorizingDataFetcher {
        AuthorizingDataFetcher(self, credentials: credentials)
    }

    /// This fetcher with credentials for one origin: scheme, host and port of an address (RFC 6454).
    ///
    /// - Parameters:
    ///   - field: The field that holds them, such as ``HeaderField/bearer(_:)``. It is treated as sensitive, whatever its name.
    ///   - url: An address of the origin that they are for.
    ///   - allowingPlainHTTP: Whether they are sent by plain http to another machine, where anybody on the way can read them.
    /// - Returns: the fetcher to hand requests to.
    public func authorizing(
        with field: HeaderField,
        for url: URL,
        allowingPlainHTTP: Bool = false
    ) -> AuthorizingDataFetcher {
        authorizing(with: Credentials(field, for: url, allowingPlainHTTP: allowingPlainHTTP))
    }
}
