public import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The service's own client of an upstream. In this example, it returns constant responses.
public struct OwnDataFetcher: DataFetcher {
    /// Creates the client.
    public init() {}

    /// Returns the orders, or 404 for any other path.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.url.lastPathComponent == "orders" else { return DataResponse(status: .notFound) }
        return DataResponse(body: Data(Self.orders.utf8))
    }

    private static let orders = """
        [{"id": 1, "article": "Punched cards", "count": 500}, {"id": 2, "article": "Engines", "count": 1},
         {"id": 3, "article": "Nothing", "count": 0}]
        """
}
