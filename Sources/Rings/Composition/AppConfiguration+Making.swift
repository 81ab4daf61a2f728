import Foundation
import Infrastructure
import InwardCore
import InwardFetching
import InwardFileStores
import InwardImageCodecs
import InwardImages
import InwardRepositories
import InwardScopes
import InwardTransfers
import InwardURLSession

#if AsyncHTTPClient
import InwardAsyncHTTPClient
#endif

#if Vips
import InwardVips
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

extension AppConfiguration {
    /// Makes the store of what outlives the process; `nil` if the configuration names no directory.
    ///
    /// - Parameter errorHandler: Receives what was damaged there.
    /// - Returns: the store.
    func makeRecordStore(tellingDamageTo errorHandler: any ErrorHandler) -> (any RecordStore)? {
        storeDirectory.map { path in
            FileRecordStore(
                directory: URL(filePath: path, directoryHint: .isDirectory),
                reportDamage: { errorHandler.handle($0) }
            )
        }
    }
}

extension AppConfiguration {
    /// What makes images of bytes, and bytes of images, closed with the scope that is being opened if it needs that.
    func makeImageCodec(for opening: inout ScopeOpening) -> any ImageCodec {
        #if Vips
        opening.closing(VipsImageCodec(), as: "imageCodec") { $0.close() }
        #else
        SwiftImageCodec()
        #endif
    }
}

extension AppConfiguration {
    /// The handler of failures that no caller receives: repeats are dropped first, then it is written, then reported.
    ///
    /// - Parameters:
    ///   - writeError: Takes a line about each; `nil` to write none.
    ///   - isWritten: Which of them are written.
    ///   - dataFetcher: What carries reports to the collector, if there is one.
    ///   - clock: What tells how long a repeat is one.
    /// - Returns: the outermost handler.
    func makeErrorHandler(
        writeError: (@Sendable (String) -> Void)?,
        where isWritten: @escaping @Sendable (any Error) -> Bool,
        dataFetcher: any DataFetcher,
        clock: some Clock<Duration>
    ) -> any ErrorHandler {
        var handler: any ErrorHandler = IgnoringErrorHandler()
        if let errorCollector {
            let saver = PostingDataSaver(url: errorCollector, dataFetcher: dataFetcher)
            handler = handler.reporting(through: saver)
        }
        if let writeError { handler = handler.logging(to: writeError, where: isWritten) }
        return handler.droppingRepeats(within: .seconds(60), clock: clock)
    }
}
