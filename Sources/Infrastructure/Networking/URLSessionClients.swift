import Foundation
import InterfaceAdapters
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client for each origin, so that one which floods its client, or stalls it, does not hold up the others.
final class URLSessionClients: Sendable {
    /// How many origins are remembered. Redirects can name any number of them.
    private static let mostClients = 64

    private let clients = Mutex<[WebOrigin: URLSessionClient]>([:])
    private let makeClient: @Sendable () -> URLSessionClient

    init(makeClient: @escaping @Sendable () -> URLSessionClient) {
        self.makeClient = makeClient
    }

    /// The client for the origin of an address.
    func client(for url: URL) -> URLSessionClient {
        let origin = WebOrigin(url)
        return clients.withLock { clients in
            if let client = clients[origin] { return client }
            // Who is still at work with one of them holds it until that is done.
            if clients.count == Self.mostClients { clients.removeAll() }
            let client = makeClient()
            clients[origin] = client
            return client
        }
    }
}
