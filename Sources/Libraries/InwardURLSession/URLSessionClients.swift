import Foundation
import InwardFetching
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

    /// The client for a request: that of its origin, or one of its own where a connection that was used before is not safe.
    func client(for request: DataRequest) -> URLSessionClient {
        #if canImport(FoundationNetworking)
        // Outside of Apple's platforms the client repeats what goes out on a connection that is closed then, whatever its
        // method, and never ends if it has a body. To a connection that nothing was sent on before it does neither.
        guard request.isIdempotent, request.body == nil else { return makeClient() }
        #endif
        return client(for: request.url)
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
