import Foundation
import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client for each origin, so that an origin that floods or stalls its client does not affect others.
final class URLSessionClients: Sendable {
    /// The maximum number of remembered origins. Redirects can name any number of them.
    private static let maximumClients = 64

    private let clients = Mutex<[WebOrigin: URLSessionClient]>([:])
    private let makeClient: @Sendable () -> URLSessionClient

    init(makeClient: @escaping @Sendable () -> URLSessionClient) {
        self.makeClient = makeClient
    }

    /// Returns the client for a request: that of its origin, or a new one if reusing a connection is not safe.
    func client(for request: DataRequest) -> URLSessionClient {
        #if canImport(FoundationNetworking)
        // Outside of Apple's platforms, the client resends a request, whatever its method, if a reused connection closes. If
        // the request has a body, it then never completes. On a new connection, neither happens.
        guard request.isIdempotent, request.body == nil else { return makeClient() }
        #endif
        return client(for: request.url)
    }

    /// Returns the client for the origin of an address.
    func client(for url: URL) -> URLSessionClient {
        let origin = WebOrigin(url)
        return clients.withLock { clients in
            if let client = clients[origin] { return client }
            // Transfers in progress retain their client until they are done.
            if clients.count == Self.maximumClients { clients.removeAll() }
            let client = makeClient()
            clients[origin] = client
            return client
        }
    }
}

/// A `URLSession` with connections of its own, which close when the last reference to it is released.
final class URLSessionClient: Sendable {
    private let session: URLSession
    private let transfers = URLSessionTransfers()

    init(configuration: URLSessionConfiguration) {
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit {
        // A session retains its delegate and its connections until it is invalidated.
        session.finishTasksAndInvalidate()
    }

    /// Returns the outcome of a request's transfer.
    func outcome(of request: DataRequest, bodyLimit: Int) async -> URLSessionTransfer.Outcome {
        let transfer = PendingTransfer(URLSessionTransfer(of: request, bodyLimit: bodyLimit))
        let callOff = Deadline.current?.whenPassed { [transfers] in
            transfer.advance { $0.timedOut("before the deadline") }
            transfers.giveUp(transfer)
        }
        defer { callOff?() }
        return await withTaskCancellationHandler {
            await transfer.outcome {
                // Captures `self`, whose deinitializer invalidates the session: an invalidated session creates no tasks.
                transfers.begin(transfer) { [self] in session.dataTask(with: URLRequest(request)) }
            }
        } onCancel: {
            transfer.advance { $0.cancelled() }
            transfers.giveUp(transfer)
        }
    }
}

extension URLRequest {
    /// Creates the platform's form of a request.
    init(_ request: DataRequest) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        httpBody = request.body
        // Otherwise, the platform declares the body to be a form.
        if request.body != nil { setValue("application/octet-stream", forHTTPHeaderField: "Content-Type") }
        for (name, fields) in Dictionary(grouping: request.headerFields, by: \.name) {
            // RFC 6265 section 5.4: cookies are the only list that is not separated by commas.
            let separator = name == .cookie ? "; " : ", "
            setValue(fields.map(\.value).joined(separator: separator), forHTTPHeaderField: name.rawValue)
        }
    }
}
