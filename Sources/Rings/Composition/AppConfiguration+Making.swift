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

#if PostgreSQL
import InwardPostgreSQL
#endif

#if Vips
import InwardVips
#endif

extension AppConfiguration {
    /// The base address of the repositories' paths.
    var baseURL: URL {
        switch upstream {
        case .sample: SampleDataFetcher.baseURL
        case .web(let url), .directory(let url): url
        }
    }

    var isUpstreamOnWeb: Bool { if case .web = upstream { true } else { false } }

    /// Returns the data fetcher for the configured upstream.
    ///
    /// - Parameter web: The data fetcher to use if the upstream is on the web.
    /// - Returns: The data fetcher.
    /// - Throws: An ``AppConfigurationError`` if the upstream is a directory that cannot be read.
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
                throw AppConfigurationError("The upstream must be a web address or a directory, but \(error).")
            }
        }
    }

    /// Returns the data fetcher for images, which sends requests only to addresses that the configuration allows: those of the
    /// upstream's origin, and those of the policy for images.
    ///
    /// An upstream that is not on the web has no addresses on a network, so its data fetcher is returned unchanged.
    ///
    /// - Parameter dataFetcher: The data fetcher to guard.
    /// - Returns: The data fetcher.
    /// - Throws: An ``AppConfigurationError`` if the data fetcher cannot apply the policy. It names the remedy.
    func makeImageFetcher(over dataFetcher: any DataFetcher) throws(AppConfigurationError) -> any DataFetcher {
        guard case .web(let url) = upstream else { return dataFetcher }
        do throws(AddressPolicyError) {
            guard let imageAddressPolicy else { return try dataFetcher.guarding(with: .origin(of: url)) }
            return try dataFetcher.guarding(with: imageAddressPolicy.trusting(originOf: url))
        } catch {
            throw AppConfigurationError("The addresses of images cannot be checked. \(error)")
        }
    }

    /// Returns the HTTP client. A client that needs closing is closed with the scope that `opening` opens.
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
    /// Returns the records that outlive the process; `nil` if the configuration names no store.
    ///
    /// - Parameters:
    ///   - credentials: Returns the credentials for delivering the writes of a user, if several instances share the store.
    ///   - errorHandler: Receives damage found in the store.
    /// - Returns: The records.
    func makeRecords(
        deliveringAs credentials: @escaping AppRecords.Credentials,
        tellingDamageTo errorHandler: any ErrorHandler
    ) -> AppRecords? {
        switch store {
        case nil: nil
        case .directory(let url):
            .own(FileRecordStore(directory: url, reportDamage: { errorHandler.handle($0) }))
        #if PostgreSQL
        case .postgreSQL(let uri): .shared(PostgreSQLRecordStore(uri), credentials)
        #endif
        }
    }
}

/// Where a store keeps its records.
enum StoreLocation: Hashable, Sendable {
    case directory(URL)
    #if PostgreSQL
    case postgreSQL(String)
    #endif

    /// Reads the path of a directory, or the URI of a database.
    ///
    /// - Throws: An ``AppConfigurationError``. It never contains the text, which may contain a password.
    init(_ text: String) throws(AppConfigurationError) {
        guard !text.isEmpty else { throw AppConfigurationError("The path of the store directory is empty.") }
        guard !text.contains("password=") else {
            throw AppConfigurationError(
                "The store must not contain a password. Put it into the file that PGPASSFILE names."
            )
        }
        guard let scheme = text.firstRange(of: "://").map({ text[..<$0.lowerBound] }) else {
            self = .directory(URL(filePath: text, directoryHint: .isDirectory))
            return
        }
        guard ["postgresql", "postgres"].contains(scheme) else {
            throw AppConfigurationError("The store must be a directory, or begin with postgresql://.")
        }
        #if PostgreSQL
        self = .postgreSQL(text)
        #else
        throw AppConfigurationError("This program was built without PostgreSQL. Build it with --traits PostgreSQL.")
        #endif
    }
}

extension AppConfiguration {
    /// Returns the image codec. A codec that needs closing is closed with the scope that `opening` opens.
    func makeImageCodec(for opening: inout ScopeOpening) -> OnFirstUse<any ImageCodec> {
        #if Vips
        opening.onFirstUse(as: "imageCodec") {
            VipsImageCodec()
        } closing: { codec in
            (codec as? VipsImageCodec)?.close()
        }
        #else
        opening.onFirstUse(as: "imageCodec") { SwiftImageCodec() }
        #endif
    }
}

extension AppConfiguration {
    /// Returns the handler for failures that no caller receives. It drops repeated failures. It writes a line about each of the
    /// others, and reports them to the collector.
    ///
    /// - Parameters:
    ///   - writeError: Receives a line about each failure; `nil` to write none.
    ///   - isWritten: Returns whether a failure is written.
    ///   - dataFetcher: Sends reports to the collector, if there is one.
    ///   - clock: The clock for dropping repeated failures.
    /// - Returns: The outermost of the handlers.
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
