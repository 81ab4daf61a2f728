import Foundation
import Infrastructure
import InwardFetching
import InwardScopes
import InwardURLSession

#if AsyncHTTPClient
import InwardAsyncHTTPClient
#endif

extension AppConfiguration {
    /// The address that the paths of the repositories are relative to.
    var baseURL: URL {
        switch upstream {
        case .sample: SampleDataFetcher.baseURL
        case .web(let url), .directory(let url): url
        }
    }

    /// The implementation that answers for the chosen upstream.
    ///
    /// - Parameter web: What answers if the upstream is on the web.
    /// - Returns: the data fetcher.
    /// - Throws: an ``AppConfigurationError`` if the upstream is a directory that cannot be read.
    func makeDataFetcher(web: any DataFetcher) throws(AppConfigurationError) -> any DataFetcher {
        switch upstream {
        case .sample:
            return SampleDataFetcher()
        case .web:
            return web
        case .directory(let url):
            do {
                return try FileDataFetcher(directory: url, bodyLimit: bodyLimit)
            } catch {
                throw AppConfigurationError("An upstream is a web address or a directory, and \(error).")
            }
        }
    }

    /// The client that the web is asked by, closed with the scope that is being opened if it needs that.
    func makeWebDataFetcher(for opening: inout ScopeOpening) -> any DataFetcher {
        #if AsyncHTTPClient
        opening.closing(
            AsyncHTTPClientDataFetcher(idleTimeout: idleTimeout, bodyLimit: bodyLimit),
            as: "dataFetcher"
        ) { try await $0.close() }
        #else
        URLSessionDataFetcher(idleTimeout: idleTimeout, bodyLimit: bodyLimit)
        #endif
    }
}
