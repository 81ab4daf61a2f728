public import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Saves data by posting it to an address, such as that of a collector of reports.
public struct PostingDataSaver: DataSaver {
    private let url: URL
    private let contentType: String
    private let dataFetcher: any DataFetcher

    /// Makes a saver.
    ///
    /// - Parameters:
    ///   - url: Where the data goes.
    ///   - contentType: What the data is said to be.
    ///   - dataFetcher: What carries it there.
    public init(url: URL, contentType: String = "text/plain; charset=utf-8", dataFetcher: any DataFetcher) {
        self.url = url
        self.contentType = contentType
        self.dataFetcher = dataFetcher
    }

    /// Posts the data.
    ///
    /// - Throws: a `DataSaverError` unless it was answered with success.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        let request = DataRequest(
            method: .post,
            url: url,
            headerFields: [HeaderField(.contentType, contentType)],
            body: Data(data)
        )
        do throws(FetchError) {
            let response = try await dataFetcher.fetch(request)
            guard response.status.isSuccess else { throw FetchError(response, to: request) }
        } catch {
            throw DataSaverError(destination: error.request, explanation: error.explanation)
        }
    }
}
