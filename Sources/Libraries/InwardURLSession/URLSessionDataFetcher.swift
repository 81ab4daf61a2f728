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

/// A data fetcher for HTTP and HTTPS that uses the platform's `URLSession`.
///
/// ```swift
/// let fetcher = URLSessionDataFetcher(idleTimeout: .seconds(10), bodyLimit: 1_000_000)
/// let response = try await fetcher.fetch(DataRequest(url: URL(string: "https://example.org/api/comments")!))
/// print(response.status, response.body.count)
/// ```
///
/// The fetcher keeps connections between requests, but no cookies, cached responses or credentials. Share one fetcher among all
/// callers of the same hosts. Its connections close when the last reference to it is released.
///
/// **Header fields and bodies.** In a response, repeated header fields are joined by commas, which is equivalent (RFC 9110
/// section 5.3) except for `Set-Cookie`. The order of the fields is not defined. A compressed body is decoded, and the fields
/// that describe its coding are removed. `URLSession` adds header fields to requests, such as `Accept`, `Accept-Encoding`,
/// `Accept-Language` and `User-Agent`.
///
/// **Connections.** Outside of Apple's platforms, a request that has a body or is not idempotent gets a new connection, which
/// closes afterwards. On a reused connection, `URLSession` would silently resend the request if the upstream closed the
/// connection.
///
/// **Proxies.** By default, no request goes through the proxies set by environment variables (`http_proxy`, `https_proxy`, `all_proxy`).
/// Outside of Apple's platforms, `URLSession` always uses these proxies. A request that it would send through a proxy therefore fails
/// with the reason `untrusted` before it is sent. To ignore the variables, call ``EnvironmentProxies/ignore()`` first in `main`, or
/// start the process without them.
///
/// **TLS.** On Apple's platforms, the minimum TLS version is 1.2. Elsewhere, `URLSession` has no such setting and accepts the lowest
/// version that its TLS library has enabled, which may be TLS 1.0. Use `AsyncHTTPClientDataFetcher` where that matters.
///
/// **Addresses.** `guarding(with:)` applies policies that allow only origins of operators, such as `AddressPolicy.origin(of:)`. Policies
/// that check addresses, such as `AddressPolicy.publicInternet`, need `AsyncHTTPClientDataFetcher`.
///
/// **Trust.** Use this fetcher only for upstreams that you trust. Outside of Apple's platforms, `URLSession` reads as fast as
/// the upstream sends. Each fetch fails at its limits, but several endless responses at once can keep the machine busy. Each
/// origin has its own session, so a slow origin does not delay the others.
public final class URLSessionDataFetcher: DataFetcher {
    private let clients: URLSessionClients
    private let bodyLimit: Int
    private let redirects: RedirectPolicy
    private let environmentProxies: EnvironmentProxies
    private let usesEnvironmentProxies: Bool
    private let addressGuard: AddressGuard?

    /// Creates a fetcher. It shares no connections with other fetchers.
    ///
    /// - Parameters:
    ///   - idleTimeout: The maximum time without receiving data, before the response or within it. It does not limit the duration of
    ///     the whole transfer.
    ///   - bodyLimit: The maximum size of a decoded body, in bytes. The fetch fails as soon as it is known that the body is larger.
    ///   - redirects: Whether and how often redirects are followed.
    ///   - connectionsPerHost: The maximum number of open connections to one host. Further requests wait. Connections that
    ///     serve only one request do not count.
    ///   - usesEnvironmentProxies: Whether requests may go through proxies set by environment variables. On Apple's platforms, they
    ///     never do.
    public convenience init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16,
        usesEnvironmentProxies: Bool = false
    ) {
        #if canImport(FoundationNetworking)
        let environment = ProcessInfo.processInfo.environment
        #else
        let environment: [String: String] = [:]
        #endif
        self.init(
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects,
            connectionsPerHost: connectionsPerHost,
            environmentProxies: EnvironmentProxies(environment),
            usesEnvironmentProxies: usesEnvironmentProxies
        )
    }

    /// Creates a fetcher in an environment with proxies.
    convenience init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16,
        environmentProxies: EnvironmentProxies,
        usesEnvironmentProxies: Bool = false
    ) {
        let clients = URLSessionClients {
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
        self.init(
            clients: clients,
            bodyLimit: max(0, bodyLimit),
            redirects: redirects,
            environmentProxies: environmentProxies,
            usesEnvironmentProxies: usesEnvironmentProxies
        )
    }

    private init(
        clients: URLSessionClients,
        bodyLimit: Int,
        redirects: RedirectPolicy,
        environmentProxies: EnvironmentProxies,
        usesEnvironmentProxies: Bool,
        addressGuard: AddressGuard? = nil
    ) {
        self.clients = clients
        self.bodyLimit = bodyLimit
        self.redirects = redirects
        self.environmentProxies = environmentProxies
        self.usesEnvironmentProxies = usesEnvironmentProxies
        self.addressGuard = addressGuard
    }

    /// Always `true`, because each fetch ends when the deadline of its task passes.
    public var honorsDeadlines: Bool { true }

    /// Sends a request to an HTTP or HTTPS URL, and returns the response with any status.
    ///
    /// - Throws: A `FetchError` if no complete response arrives, if a limit is exceeded, or if the request is not sent.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await redirects.answer(to: request, guardedBy: addressGuard, by: send)
    }

    private func send(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if let problem = request.problem {
            throw FetchError(.invalidRequest, request: request, explanation: problem)
        }
        try addressGuard?.check(request)
        if !usesEnvironmentProxies, let variable = environmentProxies.variable(for: request.url) {
            let remedy =
                addressGuard == nil ? "Unset the variable, or pass usesEnvironmentProxies: true" : "Unset the variable"
            let explanation =
                "was not sent: the environment variable \(variable) would route it through a proxy. \(remedy)"
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

extension URLSessionDataFetcher: AddressGuardable {
    /// Returns a fetcher that shares the connections of this one, and sends requests only to the origins that a policy trusts. It uses
    /// no proxies of the environment.
    ///
    /// - Throws: An `AddressPolicyError` if the policy checks addresses, because `URLSession` connects to whatever a host resolves to.
    public func guarded(by policy: AddressPolicy) throws(AddressPolicyError) -> any DataFetcher {
        guard !policy.checksAddresses else {
            throw AddressPolicyError(
                """
                URLSession looks up hosts itself, so URLSessionDataFetcher cannot check the addresses that it connects to. Enable the \
                package trait AsyncHTTPClient and use AsyncHTTPClientDataFetcher, or allow only the origins of configured URLs.
                """
            )
        }
        return URLSessionDataFetcher(
            clients: clients,
            bodyLimit: bodyLimit,
            redirects: redirects,
            environmentProxies: environmentProxies,
            usesEnvironmentProxies: false,
            addressGuard: addressGuard?.adding(policy) ?? AddressGuard(policy)
        )
    }
}

/// The clients of a fetcher: one per origin, so that an origin that floods or stalls its client does not affect others.
final class URLSessionClients: Sendable {
    /// The maximum number of clients. Without a limit, redirects could create any number of them.
    private static let maximumClients = 64

    private let clients = Mutex<[WebOrigin: URLSessionClient]>([:])
    private let makeClient: @Sendable () -> URLSessionClient

    init(makeClient: @escaping @Sendable () -> URLSessionClient) {
        self.makeClient = makeClient
    }

    /// Returns the client of the request's origin, or a new client if reusing a connection is not safe.
    func client(for request: DataRequest) -> URLSessionClient {
        #if canImport(FoundationNetworking)
        // Outside of Apple's platforms, `URLSession` resends a request of any method if a reused connection closes. If the request
        // has a body, it then never completes. On a new connection, neither happens.
        guard request.isIdempotent, request.body == nil else { return makeClient() }
        #endif
        return client(for: request.url)
    }

    /// Returns the client for the origin of a URL.
    func client(for url: URL) -> URLSessionClient {
        let origin = WebOrigin(url)
        return clients.withLock { clients in
            if let client = clients[origin] { return client }
            // Transfers in progress retain their clients until they are done.
            if clients.count == Self.maximumClients { clients.removeAll() }
            let client = makeClient()
            clients[origin] = client
            return client
        }
    }
}

/// A `URLSession` whose connections close when the last reference to the client is released.
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
                // Captures `self`, because its deinitializer invalidates the session, and an invalidated session creates no tasks.
                transfers.begin(transfer) { [self] in session.dataTask(with: URLRequest(request)) }
            }
        } onCancel: {
            transfer.advance { $0.cancelled() }
            transfers.giveUp(transfer)
        }
    }
}

extension URLRequest {
    /// Converts a request to the platform's type.
    init(_ request: DataRequest) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        httpBody = request.body
        // Otherwise, `URLSession` declares the body to be a form.
        if request.body != nil { setValue("application/octet-stream", forHTTPHeaderField: "Content-Type") }
        for (name, fields) in Dictionary(grouping: request.headerFields, by: \.name) {
            // `Cookie` is the only list that is not separated by commas (RFC 6265 section 5.4).
            let separator = name == .cookie ? "; " : ", "
            setValue(fields.map(\.value).joined(separator: separator), forHTTPHeaderField: name.rawValue)
        }
    }
}
