import Foundation
import Infrastructure
import InterfaceAdapters

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
    /// - Throws: an ``AppConfigurationError`` if the upstream is a directory that cannot be read.
    func makeDataFetcher() throws(AppConfigurationError) -> any DataFetcher {
        switch upstream {
        case .sample:
            return SampleDataFetcher()
        case .web:
            return makeWebDataFetcher()
        case .directory(let url):
            do {
                return try FileDataFetcher(directory: url, bodyLimit: bodyLimit)
            } catch {
                throw AppConfigurationError("An upstream is a web address or a directory, and \(error).")
            }
        }
    }

    /// The client that the web is asked by.
    func makeWebDataFetcher() -> any DataFetcher {
        URLSessionDataFetcher(idleTimeout: idleTimeout, bodyLimit: bodyLimit)
    }
}
