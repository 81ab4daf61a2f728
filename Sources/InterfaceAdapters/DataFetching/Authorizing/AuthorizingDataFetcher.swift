#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that sends credentials along, and only to the origin that they are for.
///
/// Where a redirect leads elsewhere they are left behind, because the field that holds them is sensitive. Where the origin
/// does not take them (401, RFC 9110 section 15.5.2) they are renewed, if they can be, and the request is sent once more.
public struct AuthorizingDataFetcher: TellingDataFetcher {
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
    /// - Throws: what the wrapped fetcher throws, and what renewing the credentials throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard WebOrigin(request.url) == credentials.origin else { return try await base.fetch(request) }
        var edition = credentials.newest
        if edition.field == nil {
            edition = try await credentials.renewed(after: edition, for: request)
        }
        let response = try await base.fetch(authorized(request, by: edition))
        // A redirect may have led to somebody else, who never saw them.
        guard response.status == .unauthorized, credentials.areRenewable,
            response.url.map({ WebOrigin($0) == credentials.origin }) ?? true
        else { return response }
        edition = try await credentials.renewed(after: edition, for: request)
        observers.tell { $0.credentialsRefreshed(for: request) }
        var again = authorized(request, by: edition)
        again.attempt += 1
        return try await base.fetch(again)
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
    /// - Returns: the fetcher to hand requests to.
    public func authorizing(with field: HeaderField, for url: URL) -> AuthorizingDataFetcher {
        authorizing(with: Credentials(field, for: url))
    }
}
