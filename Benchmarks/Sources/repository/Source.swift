import Foundation
import InterfaceAdapters
import Synchronization

/// Has every post and ten users, and counts how often it is asked.
final class Source: DataFetcher {
    private let requests = Atomic(0)
    private let users = Data("[\((1...10).map(Source.user).joined(separator: ","))]".utf8)

    var requestCount: Int { requests.load(ordering: .relaxed) }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        requests.add(1, ordering: .relaxed)
        let name = request.url.lastPathComponent
        if name == "users" { return DataResponse(body: users) }
        return DataResponse(body: Data(#"{"id":\#(name),"userId":1,"title":"t","body":"b"}"#.utf8))
    }

    private static func user(_ id: Int) -> String {
        #"""
        {"id":\#(id),"name":"Ada","username":"ada","email":"ada@example.org","phone":"1","website":"example.org",
        "address":{"street":"s","suite":"1","city":"c","zipcode":"z","geo":{"lat":"1","lng":"1"}},
        "company":{"name":"n","catchPhrase":"c","bs":"b"}}
        """#
    }
}
