import Foundation
import InwardCore
public import InwardFetching
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Security)
import Security
#endif

/// Fetches over HTTP and HTTPS with the platform's `URLSession`.
///
///     let fetcher = URLSessionDataFetcher(idleTimeout: .seconds(10))
///     let response = try await fetcher.fetch(DataRequest(url: url))
///
/// The fetcher keeps connections between requests, but no cookies, cached responses or credentials. Share one fetcher among all
/// callers of the same hosts. Its connections close when the last reference to it is released.
///
/// Responses contain only what the platform's client reports. Repeated header fields arrive joined by commas (equivalent by RFC
/// 9110 section 5.3, except for `Set-Cookie`), and fields of different names arrive in any order. A compressed body arrives
/// decoded, without the fields that describe its coding. The client adds header fields to requests, such as `Accept`,
/// `Accept-Encoding`, `Accept-Language` and `User-Agent`.
///
/// Outside of Apple's platforms, a request that has a body or is not idempotent uses a new connection, which closes afterwards.
/// On a reused connection, the client would send the request again when the upstream closes the connection.
///
/// By default, the fetcher does not use the proxies named by the environment (`http_proxy`, `https_proxy`, `all_proxy`).
/// Outside of Apple's platforms, the client cannot be kept from using them. A request that it would send through a proxy
/// therefore fails before it is sent, with the reason `untrusted`. To ignore the variables, call
/// ``EnvironmentProxies/ignore()`` first in `main`, or start the process without them.
///
/// On Apple's platforms, the minimum TLS version is 1.2. Elsewhere, the client has no such setting and accepts the lowest
/// version that its TLS library has enabled, which may be TLS 1.0. Use `AsyncHTTPClientDataFetcher` where that matters.
///
/// Each origin has connections and threads of its own. Nevertheless, use this fetcher only for upstreams that you trust not to
/// be hostile. Outside of Apple's platforms, the client reads as fast as the upstream sends, so several endless responses at
/// once keep the machine busy, although each fetch fails at its limit. See Architecture.md.
public final class URLSessionDataFetcher: DataFetcher {
    private let clients: URLSessionClients
    private let bodyLimit: Int
    private let redirects: RedirectPolicy
    private let forbiddenProxies: EnvironmentProxies

    /// Creates a fetcher with connections of its own.
    ///
    /// - Parameters:
    ///   - idleTimeout: How long the fetch may receive nothing, at the start or in between, before it fails. It does not limit
    ///     the whole transfer.
    ///   - bodyLimit: The maximum size of a decoded body, in bytes. A larger body fails as soon as its size is known.
    ///   - redirects: How redirects are handled.
    ///   - connectionsPerHost: The maximum number of open connections to one host, not counting those used for a single
    ///     request. Further requests wait.
    ///   - usesEnvironmentProxies: Whether requests may go through the proxies named by the environment. On Apple's platforms,
    ///     they never do.
    public convenience init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16,
        usesEnvironmentProxies: Bool = false
    ) {
        #if canImport(FoundationNetworking)
        let forbidden = usesEnvironmentProxies ? [:] : ProcessInfo.processInfo.environment
        #else
        let forbidden: [String: String] = [:]
        #endif
        self.init(
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects,
            connectionsPerHost: connectionsPerHost,
            forbiddenProxies: EnvironmentProxies(forbidden)
        )
    }

    /// Creates a fetcher that sends no requests that would go through one of these proxies.
    init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16,
        forbiddenProxies: EnvironmentProxies
    ) {
        clients = URLSessionClients {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = idleTimeout / .seconds(1)
            configuration.httpMaximumConnectionsPerHost = connectionsPerHost
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            #if !canImport(FoundationNetworking)
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
            #endif
            return URLSessionClient(configuration: configuration)
        }
        self.bodyLimit = max(0, bodyLimit)
        self.redirects = redirects
        self.forbiddenProxies = forbiddenProxies
    }

    /// Always `true`: each fetch ends when the deadline of its task passes.
    public var honorsDeadlines: Bool { true }

    /// Returns the response to a request for an HTTP or HTTPS address, whatever its status.
    ///
    /// - Throws: a `FetchError` if there is no complete response.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await redirects.answer(to: request, by: send)
    }

    private func send(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if let problem = request.problem {
            throw FetchError(.invalidRequest, request: request, explanation: problem)
        }
        if let variable = forbiddenProxies.variable(for: request.url) {
            let explanation = """
                was not sent: the environment variable \(variable) would lead it through a proxy; unset the variable, or allow \
                this with usesEnvironmentProxies
                """
            throw FetchError(.untrusted, request: request, explanation: explanation, wasSent: false)
        }
        guard Deadline.current?.hasPassed != true else {
            throw FetchError(
                .timedOut,
                request: request,
                explanation: "was not sent before the deadline",
                wasSent: false
            )
        }
        return try await clients.client(for: request).outcome(of: request, bodyLimit: bodyLimit).get()
    }
}

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
