#if !AsyncHTTPClient
public import InwardFetching

/// A data fetcher that uses AsyncHTTPClient. Available when the package trait `AsyncHTTPClient` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait AsyncHTTPClient of the package: .package(url: …, from: …, traits: [\"AsyncHTTPClient\"])"
)
public final class AsyncHTTPClientDataFetcher: DataFetcher {
    /// Accepts the same arguments as the real fetcher.
    public init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16,
        resolver: (any HostResolver)? = nil
    ) {}

    /// Always fails.
    ///
    /// - Throws: A `FetchError` with the reason `invalidRequest`.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        throw FetchError(.invalidRequest, request: request, explanation: "needs the package trait AsyncHTTPClient")
    }

    /// Does nothing.
    public func close() async throws {}
}
#endif
