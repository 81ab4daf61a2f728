package import InwardFetching
package import InwardRepositories
import InwardTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Upstream {
    /// An upstream at `http://upstream.test/api` behind a data fetcher.
    package static func example(_ dataFetcher: any DataFetcher) throws -> Upstream {
        Upstream(baseURL: try DataRequest.example("http://upstream.test/api").url, dataFetcher: dataFetcher)
    }

    /// An upstream that answers everything with this text.
    package static func example(answering json: String, status: DataResponse.Status = .ok) throws -> Upstream {
        try example(StubDataFetcher(DataResponse(status: status, body: Data(json.utf8))))
    }
}
