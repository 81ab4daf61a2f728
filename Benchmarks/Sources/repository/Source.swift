import Foundation
import InwardFetching
import Synchronization

/// An upstream with every post, news item and user, of which ten are in the list. It counts its requests.
final class Source: DataFetcher {
    private let requests = Atomic(0)
    private let users = Data("[\((1...10).map(Source.user).joined(separator: ","))]".utf8)
    private static let names = ["Leanne", "Ervin", "Clementine", "Patricia", "Chelsey"]

    var requestCount: Int { requests.load(ordering: .relaxed) }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        requests.add(1, ordering: .relaxed)
        let name = request.url.lastPathComponent
        if name == "users" { return DataResponse(body: users) }
        if let number = Int(name), request.url.pathComponents.contains("users") {
            return DataResponse(body: Data(Self.user(number).utf8))
        }
        return DataResponse(body: Data(#"{"id":\#(name),"userId":1,"title":"t","body":"b"}"#.utf8))
    }

    private static func user(_ id: Int) -> String {
        #"""
        {"id":\#(id),"name":"\#(names[id % names.count])","username":"ada","email":"ada@example.org","phone":"1","website":"example.org",
        "address":{"street":"s","suite":"1","city":"c","zipcode":"z","geo":{"lat":"1","lng":"1"}},
        "company":{"name":"n","catchPhrase":"c","bs":"b"}}
        """#
    }
}
