import InwardAsyncHTTPClient
import InwardFetching
import InwardURLSession

#if AsyncHTTPClient
import InwardAsyncHTTPClient
#endif

/// A client that the program can be made with, for tests of what every one of them must do.
enum TestedClient: CaseIterable {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    /// Makes one; unless told otherwise, patient beyond the time limit of a test, so that nothing but what is tested ends a
    /// transfer.
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
