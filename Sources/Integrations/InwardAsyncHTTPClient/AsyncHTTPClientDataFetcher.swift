#if AsyncHTTPClient
public import AsyncHTTPClient
import InwardCore
public import InwardFetching
import NIOCore
import NIOHTTPCompression
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A data fetcher for HTTP/1.1 and HTTP/2 that uses AsyncHTTPClient.
///
/// ```swift
/// let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(10), bodyLimit: 1_000_000)
/// let response = try await fetcher.fetch(DataRequest(url: URL(string: "https://example.org/api/comments")!))
/// try await fetcher.close()
/// ```
///
/// The fetcher keeps connections between requests, but no cookies, cached responses or credentials. Share one fetcher among all
/// callers of the same hosts, and call ``close()`` when you no longer need it. Releasing the last reference also closes the
/// connections.
///
/// **Header fields and bodies.** Requests and responses keep the order and the repetition of header fields. Only `Cookie` is
/// sent as a single field. A user name and password in the URL are sent as `Authorization`, unless the request has that field.
/// The fetcher adds `Host`, `Content-Length` and `Accept-Encoding`. It decompresses response bodies, and removes the header
/// fields that describe their compression. With your own client, it returns bodies and fields unchanged.
///
/// **TLS and proxies.** The minimum TLS version is 1.2. Proxy variables of the environment are ignored. To use a proxy or to trust
/// other certificates, pass an `HTTPClient` that is configured for that.
///
/// **Addresses.** `guarding(with:)` applies any policy, also one that checks the addresses of hosts: the fetcher looks up each host,
/// and connects only to an address that was checked. It keeps a client for each of the 64 addresses that it used last.
public final class AsyncHTTPClientDataFetcher: DataFetcher {
    private let clients: AsyncHTTPClients
    private let idleTimeout: Duration
    private let bodyLimit: Int
    private let redirects: RedirectPolicy
    private let resolver: any HostResolver
    private let addressGuard: AddressGuard?

    /// Creates a fetcher with its own client.
    ///
    /// - Parameters:
    ///   - idleTimeout: The maximum time from the start of a request to the head of the response, and then between two parts of the
    ///     body. It must be greater than zero. It does not limit the duration of the whole transfer.
    ///   - bodyLimit: The maximum size of a body in bytes, after decompression. The fetch fails as soon as it is known that the body
    ///     is larger.
    ///   - redirects: Whether and how often redirects are followed.
    ///   - connectionsPerHost: The maximum number of open HTTP/1.1 connections to one host, or to one address of a host if the fetcher
    ///     is guarded. Further requests wait.
    ///   - resolver: Looks up the addresses that a guarded fetcher checks; `nil` for the operating system.
    public convenience init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16,
        resolver: (any HostResolver)? = nil
    ) {
        let configuration = Self.clientConfiguration(
            connectTimeout: Self.bounded(idleTimeout),
            bodyLimit: max(0, bodyLimit),
            connectionsPerHost: max(1, connectionsPerHost)
        )
        self.init(
            AsyncHTTPClients(configuration),
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects,
            resolver: resolver
        )
    }

    /// Returns the configuration of a client that the fetcher owns.
    static func clientConfiguration(
        connectTimeout: Duration,
        bodyLimit: Int,
        connectionsPerHost: Int
    ) -> HTTPClient.Configuration {
        // By default, the client accepts TLS 1.0, which RFC 8996 forbids.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: TimeAmount(connectTimeout)),
            decompression: .enabled(limit: .size(bodyLimit))
        )
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        // Otherwise the client retries a refused connection until the timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Spans would record query strings, which can contain keys and signatures.
        configuration.tracing.tracer = nil
        return configuration
    }

    /// Creates a fetcher that uses an existing client.
    ///
    /// When you no longer use the fetcher, shut the client down yourself.
    ///
    /// - Parameters:
    ///   - client: A client that neither follows redirects nor decompresses bodies. If it follows a redirect, the fetch fails. Its own
    ///     TLS and proxy settings apply. Header fields of responses are returned unchanged.
    ///   - idleTimeout: The maximum time from the start of a request to the head of the response, and then between two parts of the
    ///     body. It must be greater than zero. It does not limit the duration of the whole transfer.
    ///   - bodyLimit: The maximum size of a body in bytes. The fetch fails as soon as it is known that the body is larger.
    ///   - redirects: Whether and how often redirects are followed.
    public convenience init(
        client: HTTPClient,
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5)
    ) {
        self.init(
            AsyncHTTPClients(callers: client),
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects
        )
    }

    /// Creates a fetcher that uses the given clients.
    init(
        _ clients: AsyncHTTPClients,
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        resolver: (any HostResolver)? = nil,
        addressGuard: AddressGuard? = nil
    ) {
        self.clients = clients
        self.idleTimeout = Self.bounded(idleTimeout)
        self.bodyLimit = max(0, bodyLimit)
        self.redirects = redirects
        self.resolver = resolver ?? SystemHostResolver()
        self.addressGuard = addressGuard
    }

    /// Always `true`, because each fetch ends when the deadline of its task passes.
    public var honorsDeadlines: Bool { true }

    /// Sends a request to an HTTP or HTTPS URL, and returns the response with any status.
    ///
    /// - Throws: A `FetchError` if no complete response arrives. Its reason is `closed` if the client has been closed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await redirects.answer(to: request, guardedBy: addressGuard, by: send)
    }

    /// Closes the connections, also those of guarded fetchers. Fetches in progress and later fetches fail.
    ///
    /// A client that you passed to the initializer stays open. Further calls do nothing.
    ///
    /// - Throws: The client's error if it cannot be shut down.
    public func close() async throws {
        try await clients.close()
    }

    private func send(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if let problem = request.problem {
            throw FetchError(.invalidRequest, request: request, explanation: problem)
        }
        try addressGuard?.check(request)
        if let addresses = try await addressGuard?.addresses(for: request, resolvingWith: resolver) {
            return try await send(request, toOneOf: addresses)
        }
        return try await outcome(of: request, by: clients.main).get()
    }

    /// Sends a request to the first of several checked addresses that can be reached.
    private func send(_ request: DataRequest, toOneOf addresses: [IPAddress]) async throws(FetchError) -> DataResponse {
        let host = try host(of: request)
        let candidates = addresses.prefix(Self.maximumAddresses)
        for address in candidates {
            guard let client = clients.begin(connecting: host, to: address) else { break }
            defer { clients.end(connecting: host, to: address) }
            let outcome = await outcome(of: request, by: client)
            // Nothing was sent to an address that could not be reached.
            if case .failure(let error) = outcome, error.reason == .unreachable, address != candidates.last { continue }
            return try outcome.get()
        }
        throw FetchError(.closed, request: request, explanation: "was not sent, because the client is closed")
    }

    /// Returns the host of a request as the client reads it, so that the client finds the address that it must connect to.
    private func host(of request: DataRequest) throws(FetchError) -> String {
        do {
            return try HTTPClient.Request(request).host
        } catch {
            throw FetchError(error, of: request)
        }
    }

    private func outcome(of request: DataRequest, by client: HTTPClient) async -> AsyncHTTPClientTransfer.Outcome {
        let transfer = AsyncHTTPClientTransfer(
            of: request,
            by: client,
            bodyLimit: bodyLimit,
            decompresses: clients.ownsClients
        )
        return await transfer.outcome(idleTimer: IdleTimer(timeout: idleTimeout, timer: .continuous))
    }

    /// The maximum number of addresses to try for a request.
    private static let maximumAddresses = 4

    /// Limits a timeout to a year, which does not overflow any clock.
    private static func bounded(_ timeout: Duration) -> Duration { min(timeout, .seconds(31_536_000)) }
}

extension AsyncHTTPClientDataFetcher: AddressGuardable {
    /// Returns a fetcher that shares the connections and the lifetime of this one, and checks each request with a policy.
    ///
    /// It looks up the host itself, checks every address, and connects to one of them. TLS and the `Host` field use the name.
    ///
    /// - Throws: An `AddressPolicyError` if the fetcher was created with a client of yours, whose proxies, redirects and connections
    ///   are not known.
    public func guarded(by policy: AddressPolicy) throws(AddressPolicyError) -> any DataFetcher {
        guard clients.ownsClients else {
            throw AddressPolicyError(
                """
                An AsyncHTTPClientDataFetcher that uses a client of its caller cannot decide where that client connects to. \
                Create the fetcher without a client.
                """
            )
        }
        return AsyncHTTPClientDataFetcher(
            clients,
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects,
            resolver: resolver,
            addressGuard: addressGuard?.adding(policy) ?? AddressGuard(policy)
        )
    }
}

extension FetchError {
    /// Converts an error of the client, or of the libraries below it, to a fetch error.
    init(_ error: any Error, of request: DataRequest) {
        let (reason, explanation) =
            switch error {
            case let error as HTTPClientError: Self.meaning(of: error)
            case is NIOConnectionError: Self.unreachable(error)
            case let error as IOError where Self.unreachableCodes.contains(error.errnoCode): Self.unreachable(error)
            case let error as IOError where error.errnoCode == ETIMEDOUT: Self.timedOut
            case let error as NIOSSLError where Self.isTrustError(error): Self.untrusted(error)
            case let error as NIOSSLExtraError where Self.trustErrors.contains(error): Self.untrusted(error)
            default: (Reason.interrupted, "got no complete response: \(error)")
            }
        self.init(reason, request: request, explanation: explanation)
    }

    /// The error codes that occur only before anything is sent. `EHOSTUNREACH` (“No route to host”) can also occur later.
    private static let unreachableCodes = [ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL]

    private static let timedOut = (Reason.timedOut, "was not answered in time")

    private static func unreachable(_ error: any Error) -> (Reason, String) {
        (.unreachable, "could not reach the host: \(error)")
    }

    private static func untrusted(_ error: any Error) -> (Reason, String) {
        (.untrusted, "could not verify the identity of the host: \(error)")
    }

    private static func isTrustError(_ error: NIOSSLError) -> Bool {
        switch error {
        case .handshakeFailed, .unableToValidateCertificate, .noCertificateToValidate, .cannotMatchULabel,
            .cannotFindPeerIP:
            true
        case .writeDuringTLSShutdown, .unableToAllocateBoringSSLObject, .noSuchFilesystemObject,
            .failedToLoadCertificate,
            .failedToLoadPrivateKey, .shutdownFailed, .readInInvalidTLSState, .uncleanShutdown:
            false
        }
    }

    private static let trustErrors = [
        NIOSSLExtraError.failedToValidateHostname, .serverHostnameImpossibleToMatch,
    ]

    private static func meaning(of error: HTTPClientError) -> (Reason, String) {
        // The full description of the error can include rejected header fields, and therefore credentials.
        let kind = error.shortDescription
        return switch kind {
        case _ where timeoutKinds.contains(kind): timedOut
        case _ where invalidRequestKinds.contains(kind): (.invalidRequest, "cannot be sent by AsyncHTTPClient: \(kind)")
        case HTTPClientError.alreadyShutdown.shortDescription:
            (.closed, "was not sent, because the client is closed")
        case HTTPClientError.redirectLimitReached.shortDescription,
            HTTPClientError.redirectCycleDetected.shortDescription:
            (.tooManyRedirects, "was redirected too often: \(kind)")
        case HTTPClientError.cancelled.shortDescription:
            (.interrupted, "got no complete response: the client was closed")
        default: (.interrupted, "got no complete response: \(kind)")
        }
    }

    private static let timeoutKinds = Set(
        [
            HTTPClientError.readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded,
            .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
        ].map(\.shortDescription)
    )

    private static let invalidRequestKinds = Set(
        [
            HTTPClientError.invalidURL, .emptyHost, .emptyScheme, .unsupportedScheme(""), .missingSocketPath,
            .traceRequestWithBody, .invalidHeaderFieldNames([]), .invalidHeaderFieldValues([]), .bodyLengthMismatch,
        ].map(\.shortDescription)
    )
}
#endif
