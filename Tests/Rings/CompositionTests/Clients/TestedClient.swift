import InwardAsyncHTTPClient
import InwardFetching
import InwardURLSession

#if AsyncHTTPClient
import InwardAsyncHTTPClient
#endif

/// The HTTP clients that an app can be built with. Each must pass the same tests.
enum TestedClient: CaseIterable {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    /// Creates a client. Its default idle timeout is longer than the time limit of a test, so that it never ends a transfer.
    func makeFetcher(
        idleTimeout: Duration = .seconds(600),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5)
    ) -> any DataFetcher {
        switch self {
        case .urlSession:
            URLSessionDataFetcher(idleTimeout: idleTimeout, bodyLimit: bodyLimit, redirects: redirects)
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            AsyncHTTPClientDataFetcher(idleTimeout: idleTimeout, bodyLimit: bodyLimit, redirects: redirects)
        #endif
        }
    }
}
