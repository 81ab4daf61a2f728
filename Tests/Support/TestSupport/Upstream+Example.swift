package import InwardFetching
package import InwardRepositories
import InwardTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Upstream {
    /// Returns an upstream at `http://upstream.test/api` that uses a data fetcher.
    package static func example(_ dataFetcher: any DataFetcher) throws -> Upstream {
        Upstream(baseURL: try DataRequest.example("http://upstream.test/api").url, dataFetcher: dataFetcher)
    }

    /// Returns an upstream that answers every request with a text.
    package static func example(answering json: String, status: DataResponse.Status = .ok) throws -> Upstream {
        try example(StubDataFetcher(DataResponse(status: status, body: Data(json.utf8))))
    }
}
