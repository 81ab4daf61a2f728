import InterfaceAdapters

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The service's own way to an upstream, which here is a text.
struct OwnDataFetcher: DataFetcher {
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.url.lastPathComponent == "users" else { return DataResponse(status: .notFound) }
        return DataResponse(body: Data(Self.users.utf8))
    }

    private static let users = """
        [{"id": 1, "name": "Ada Lovelace", "username": "ada", "email": "ada@example.org",
          "address": {"street": "St James's Square", "suite": "12", "city": "London", "zipcode": "SW1Y",
                      "geo": {"lat": "51.5", "lng": "-0.1"}},
          "phone": "555-0100", "website": "example.org",
          "company": {"name": "Analytical Engines", "catchPhrase": "It weaves", "bs": "numbers"}},
         {"id": "not a number"}]
        """
}
