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
public final class AsyncHTTPClientDataFetcher: DataFetcher {
    private let client: HTTPClient
    private let ownsClient: Bool
    private let idleTimeout: Duration
    private let bodyLimit: Int
    private let redirects: RedirectPolicy

    /// Creates a fetcher with its own client.
    ///
    /// - Parameters:
    ///   - idleTimeout: The maximum time from the start of a request to the head of the response, and then between two parts of the
    ///     body. It must be greater than zero. It does not limit the duration of the whole transfer.
    ///   - bodyLimit: The maximum size of a body in bytes, after decompression. The fetch fails as soon as it is known that the body
    ///     is larger.
    ///   - redirects: Whether and how often redirects are followed.
    ///   - connectionsPerHost: The maximum number of open HTTP/1.1 connections to one host. Further requests wait.
    public convenience init(
        idleTimeout: Duration = .seconds(30),
        bodyLimit: Int = 64 * 1_024 * 1_024,
        redirects: RedirectPolicy = .followed(upTo: 5),
        connectionsPerHost: Int = 16
    ) {
        let configuration = Self.clientConfiguration(
            connectTimeout: Self.bounded(idleTimeout),
            bodyLimit: max(0, bodyLimit),
            connectionsPerHost: max(1, connectionsPerHost)
        )
        // Uses the same transport on every platform, so that errors are the same too.
        let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
        self.init(
            client: client,
            ownsClient: true,
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects
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
            client: client,
            ownsClient: false,
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects
        )
    }

    private init(
        client: HTTPClient,
        ownsClient: Bool,
        idleTimeout: Duration,
        bodyLimit: Int,
        redirects: RedirectPolicy
    ) {
        self.client = client
        self.ownsClient = ownsClient
        self.idleTimeout = Self.bounded(idleTimeout)
        self.bodyLimit = max(0, bodyLimit)
        self.redirects = redirects
    }

    deinit {
        // In debug builds, a client traps if it is released before it is shut down. This call prevents that: before it returns,
        // it marks the client as shutting down, and it retains the client until the shutdown is done. No fetch is using the
        // client, because fetches retain this object. If the client is closed already, the callback gets an error, which is
        // ignored.
        if ownsClient { client.shutdown { _ in } }
    }

    /// Always `true`, because each fetch ends when the deadline of its task passes.
    public var honorsDeadlines: Bool { true }

    /// Sends a request to an HTTP or HTTPS URL, and returns the response with any status.
    ///
    /// - Throws: A `FetchError` if no complete response arrives. Its reason is `closed` if the client has been closed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await redirects.answer(to: request, by: send)
    }

    /// Closes the connections. Fetches in progress and later fetches fail.
    ///
    /// A client that you passed to the initializer stays open. Further calls do nothing.
    ///
    /// - Throws: The client's error if it cannot be shut down.
    public func close() async throws {
        guard ownsClient else { return }
        do {
            try await client.shutdown()
        } catch let error as HTTPClientError where error == .alreadyShutdown {
            // Another call has closed the client, or is closing it.
        }
    }

    private func send(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if let problem = request.problem {
            throw FetchError(.invalidRequest, request: request, explanation: problem)
        }
        let transfer = AsyncHTTPClientTransfer(
            of: request,
            by: client,
            bodyLimit: bodyLimit,
            decompresses: ownsClient
        )
        return try await transfer.outcome(idleTimer: IdleTimer(timeout: idleTimeout, timer: .continuous)).get()
    }

    /// Limits a timeout to a year, which does not overflow any clock.
    private static func bounded(_ timeout: Duration) -> Duration { min(timeout, .seconds(31_536_000)) }
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
