import Foundation
import InwardFetching
import InwardTesting

/// An upstream with one user and two posts, whose responses declare how long they are fresh.
enum Source {
    static let users = """
        {"id": 7, "name": "Ada Lovelace", "username": "ada", "email": "ada@example.org",
         "address": {"street": "St James's Square", "suite": "12", "city": "London", "zipcode": "SW1Y",
                     "geo": {"lat": "51.5", "lng": "-0.1"}},
         "phone": "555-0100", "website": "example.org",
         "company": {"name": "Analytical Engines", "catchPhrase": "It weaves", "bs": "numbers"}}
        """
    static let posts = """
        [{"userId": 7, "id": 1, "title": "Notes", "body": "On the engine."},
         {"userId": 7, "id": 2, "title": "More notes", "body": "On cards."}]
        """

    /// Returns the response of the upstream.
    static func answer(to request: DataRequest, maxAge: Int = 60) -> DataResponse {
        let body =
            switch request.url.lastPathComponent {
            case "users": "[\(users)]"
            case "7": users
            case "posts": request.method == .post ? "{\"id\": 3}" : posts
            default: ""
            }
        return DataResponse(
            status: body.isEmpty ? .notFound : .ok,
            headerFields: [HeaderField(.cacheControl, "max-age=\(maxAge)")],
            body: Data(body.utf8)
        )
    }

    /// Returns a data fetcher that answers like the upstream and records the requests.
    static func recording(maxAge: Int = 60) -> RecordingDataFetcher {
        RecordingDataFetcher(StubDataFetcher { request throws(FetchError) in answer(to: request, maxAge: maxAge) })
    }

    /// Returns a data fetcher that never answers. It ends when the requesting task is cancelled.
    static func silent(begun: Rendezvous) -> RecordingDataFetcher {
        RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                await begun.arrive()
                await Rendezvous(of: 2).arrive()
                throw FetchError(.cancelled, request: request, explanation: "was cancelled")
            }
        )
    }
}
