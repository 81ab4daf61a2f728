import Foundation
import InwardFetching
import InwardTesting

/// An upstream with one user and two posts, that says how long its answers are fresh.
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

    /// Answers as the upstream does.
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

    /// A data fetcher that answers as the upstream does, and remembers what it was asked.
    static func recording(maxAge: Int = 60) -> RecordingDataFetcher {
        RecordingDataFetcher(StubDataFetcher { request throws(FetchError) in answer(to: request, maxAge: maxAge) })
    }

    /// A data fetcher that gives no answer until the task that asks is cancelled.
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
