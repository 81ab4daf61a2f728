#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataFetcher {
    /// The bytes at an address.
    ///
    /// - Throws: a ``FetchError``, with ``FetchError/Reason/unsuccessful`` if the answer's status is not one of success.
    public func fetchData(from url: URL) async throws(FetchError) -> Data {
        let request = DataRequest(url: url)
        let response = try await fetch(request)
        guard response.status.isSuccess else { throw FetchError(response, to: request) }
        return response.body
    }
}
