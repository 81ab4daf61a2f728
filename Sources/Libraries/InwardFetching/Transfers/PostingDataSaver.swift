public import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data saver that posts data to a URL, such as that of a report collector.
public struct PostingDataSaver: DataSaver {
    private let url: URL
    private let contentType: String
    private let dataFetcher: any DataFetcher

    /// Creates a saver.
    ///
    /// - Parameters:
    ///   - url: The URL to post the data to.
    ///   - contentType: The media type of the data.
    ///   - dataFetcher: The data fetcher that sends the requests.
    public init(url: URL, contentType: String = "text/plain; charset=utf-8", dataFetcher: any DataFetcher) {
        self.url = url
        self.contentType = contentType
        self.dataFetcher = dataFetcher
    }

    /// Posts the data.
    ///
    /// - Throws: A `DataSaverError` if the request fails.
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
