#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that sends credentials along, and only to the origin that they are for.
///
/// Where a redirect leads elsewhere they are left behind, because the field that holds them is sensitive.
public struct AuthorizingDataFetcher: DecoratingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let credentials: HeaderField
    private let origin: WebOrigin

    init(_ base: any DataFetcher, credentials: HeaderField, origin: WebOrigin) {
        self.base = base
        self.credentials = credentials
        self.origin = origin
    }

    /// That credentials are sent.
    public var layer: DataFetcherLayer { DataFetcherLayer(.authorization, "sends credentials to \(origin)") }

    /// The answer to a request that has the credentials in place of any it had in that field, if it goes to their origin.
    ///
    /// - Throws: what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard WebOrigin(request.url) == origin else { return try await base.fetch(request) }
        var request = request
        request.headerFields[credentials.name] = nil
        request.headerFields.append(credentials)
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// This fetcher with credentials for one origin: scheme, host and port of an address (RFC 6454).
    ///
    /// - Parameters:
    ///   - credentials: The field that holds them, such as ``HeaderField/bearer(_:)``. It is treated as sensitive, whatever
    ///     its name.
    ///   - url: An address of the origin that they are for.
    /// - Returns: the fetcher to hand requests to.
    public func authorizing(with credentials: HeaderField, for url: URL) -> AuthorizingDataFetcher {
        AuthorizingDataFetcher(
            self,
            credentials: HeaderField(credentials.name, credentials.value, isSensitive: true),
            origin: WebOrigin(url)
        )
    }
}
