import Foundation
import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client for each origin, so that one which floods its client, or stalls it, does not hold up the others.
final class URLSessionClients: Sendable {
    /// How many origins are remembered. Redirects can name any number of them.
    private static let maximumClients = 64

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
            if clients.count == Self.maximumClients { clients.removeAll() }
            let client = makeClient()
            clients[origin] = client
            return client
        }
    }
}

/// A session of the platform's client, with connections of its own that close when nobody holds it any more.
final class URLSessionClient: Sendable {
    private let session: URLSession
    private let transfers = URLSessionTransfers()

    init(configuration: URLSessionConfiguration) {
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit {
        // A session holds its delegate and its connections until it is told that it is over.
        session.finishTasksAndInvalidate()
    }

    /// How the transfer of the answer to a request ends.
    func outcome(of request: DataRequest, bodyLimit: Int) async -> URLSessionTransfer.Outcome {
        let transfer = PendingTransfer(URLSessionTransfer(of: request, bodyLimit: bodyLimit))
        let callOff = Deadline.current?.whenPassed { [transfers] in
            transfer.advance { $0.timedOut("before the deadline") }
            transfers.giveUp(transfer)
        }
        defer { callOff?() }
        return await withTaskCancellationHandler {
            await transfer.outcome {
                // Holds `self`, which ends the session when it goes: a session that has ended makes no task.
                transfers.begin(transfer) { [self] in session.dataTask(with: URLRequest(request)) }
            }
        } onCancel: {
            transfer.advance { $0.cancelled() }
            transfers.giveUp(transfer)
        }
    }
}

extension URLRequest {
    /// The platform's form of a request.
    init(_ request: DataRequest) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        httpBody = request.body
        // Otherwise the platform says that it is a form.
        if request.body != nil { setValue("application/octet-stream", forHTTPHeaderField: "Content-Type") }
        for (name, fields) in Dictionary(grouping: request.headerFields, by: \.name) {
            // RFC 6265 section 5.4: cookies are the one list that commas do not separate.
            let separator = name == .cookie ? "; " : ", "
            setValue(fields.map(\.value).joined(separator: separator), forHTTPHeaderField: name.rawValue)
        }
    }
}
