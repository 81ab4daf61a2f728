#if !AsyncHTTPClient
public import InwardFetching

/// Fetches over HTTP and HTTPS with AsyncHTTPClient, where the trait `AsyncHTTPClient` of the package is enabled.
///
/// Without the trait this stands in its place, so that whoever uses it is told by the compiler what to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait AsyncHTTPClient of the package: .package(url: …, from: …, traits: [\"AsyncHTTPClient\"])"
)
public final class AsyncHTTPClientDataFetcher: DataFetcher {
    /// Takes what the fetcher takes where there is one.
    public init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16
    ) {}

    /// Answers nothing.
    ///
    /// - Throws: a `FetchError` with the reason `invalidRequest`.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        throw FetchError(.invalidRequest, request: request, explanation: "was asked of a client that is not built in")
    }

    /// Closes nothing.
    public func close() async throws {}
}
#endif
