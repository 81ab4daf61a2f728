import Foundation
import Testing

@testable import InwardURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct URLSessionClientsTests {
    private let clients = URLSessionClients { URLSessionClient(configuration: .ephemeral) }

    private func client(_ address: String) throws -> URLSessionClient {
        clients.client(for: try #require(URL(string: address)))
    }

    @Test func originHasOneClientForAllPaths() throws {
        #expect(try client("http://a.test/x") === client("HTTP://A.test:80/y?z"))
    }

    @Test(arguments: ["https://a.test/", "http://b.test/", "http://a.test:81/"])
    func eachOriginHasItsOwnClient(address: String) throws {
        #expect(try client("http://a.test/") !== client(address))
    }

    @Test func numberOfClientsIsLimited() throws {
        weak var first: URLSessionClient?
        first = try client("http://a0.test/")
        for number in 1..<64 { _ = try client("http://a\(number).test/") }
        #expect(first != nil)
        _ = try client("http://a64.test/")
        #expect(first == nil)
    }
}
