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

/// A data fetcher for HTTP and HTTPS that uses AsyncHTTPClient, with connection pooling, HTTP/1.1 and HTTP/2.
///
///     let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(10))
///
/// The fetcher keeps connections between requests, but no cookies, cache or credentials. Share one fetcher among all code that
/// talks to the same hosts, and call ``close()`` when it is no longer needed. Releasing the last reference also closes the
/// connections.
///
/// Header fields keep their order and repetitions in both directions, except `Cookie`, which is sent as a single field. A user
/// name and password in the URL are sent as `Authorization`, unless the request has that field. The fetcher adds `Host`,
/// `Content-Length` and `Accept-Encoding`. It decompresses response bodies and removes the header fields that describe their
/// compression.
///
/// The minimum TLS version is 1.2. Proxy environment variables are ignored. To use a proxy or to trust other certificates, pass a
/// client configured for that.
public final class AsyncHTTPClientDataFetcher: DataFetcher {
    private let client: HTTPClient
    private let ownsClient: Bool
    private let idleTimeout: Duration
    private let bodyLimit: Int
    private let redirects: RedirectPolicy

    /// Creates a fetcher with its own client.
    ///
    /// - Parameters:
    ///   - idleTimeout: The maximum time from the start of a request to the response head, and then between two parts of the
    ///     body; greater than zero. It does not limit the duration of the whole transfer.
    ///   - bodyLimit: The maximum size of a body in bytes, after decompression. A larger body fails as soon as its size is known.
    ///   - redirects: How the fetcher handles redirects.
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
        // The same transport on every platform, so that errors are the same too.
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
        // The default allows TLS 1.0, which RFC 8996 forbids.
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

    /// Creates a fetcher that uses an existing client. The caller shuts the client down when the fetcher is no longer used.
    ///
    /// - Parameters:
    ///   - client: A client that neither follows redirects nor decompresses. A redirect that the client followed is an error, and
    ///     response header fields are passed on unchanged. The client's own TLS and proxy settings apply.
    ///   - idleTimeout: The maximum time from the start of a request to the response head, and then between two parts of the
    ///     body; greater than zero. It does not limit the duration of the whole transfer.
    ///   - bodyLimit: The maximum size of a body in bytes. A larger body fails as soon as its size is known.
    ///   - redirects: How the fetcher handles redirects.
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
        // In debug builds, a client traps if it is released before it is shut down. That cannot happen here: this call marks the
        // client as shutting down before it returns, and retains it until then. Nothing else references the client, because
        // fetches retain this object. If the client is already closed, the callback receives an error that can be ignored.
        if ownsClient { client.shutdown { _ in } }
    }

    /// Each fetch ends when its task's deadline passes.
    public var honorsDeadlines: Bool { true }

    /// Returns the response to an HTTP or HTTPS request, whatever its status.
    ///
    /// - Throws: a `FetchError` if no complete response arrives; with the reason `closed` after the client is closed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await redirects.answer(to: request, by: send)
    }

    /// Closes the connections. Fetches in progress and later fetches fail.
    ///
    /// A client passed to the initializer stays open. Calling this method again does nothing.
    ///
    /// - Throws: the client's error if it cannot be shut down.
    public func close() async throws {
        guard ownsClient else { return }
        do {
            try await client.shutdown()
        } catch let error as HTTPClientError where error == .alreadyShutdown {
            // Already closed, or closed concurrently.
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

    /// A year is effectively unlimited and does not overflow any clock.
    private static func bounded(_ timeout: Duration) -> Duration { min(timeout, .seconds(31_536_000)) }
}

extension FetchError {
    /// Converts an error of the client, or of the libraries below it, to a fetch error.
    init(_ error: any Error, of request: DataRequest) {
        let (reason, explanation) =
            switch error {
            case let error as HTTPClientError: Self.meaning(of: error)
            case is NIOConnectionError: Self.unreachable(error)
            case let error as IOError where Self.codesOfNobody.contains(error.errnoCode): Self.unreachable(error)
            case let error as IOError where error.errnoCode == ETIMEDOUT: Self.timedOut
            case let error as NIOSSLError where Self.isDistrust(error): Self.untrusted(error)
            case let error as NIOSSLExtraError where Self.kindsOfDistrust.contains(error): Self.untrusted(error)
            default: (Reason.interrupted, "was not answered whole: \(error)")
            }
        self.init(reason, request: request, explanation: explanation)
    }

    /// Error codes that occur only before anything is sent. "No route to host" can also occur later.
    private static let codesOfNobody = [ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL]

    private static let timedOut = (Reason.timedOut, "was not answered in time")

    private static func unreachable(_ error: any Error) -> (Reason, String) {
        (.unreachable, "reached nobody: \(error)")
    }

    private static func untrusted(_ error: any Error) -> (Reason, String) {
        (.untrusted, "reached a host that could not prove who it is: \(error)")
    }

    private static func isDistrust(_ error: NIOSSLError) -> Bool {
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

    private static let kindsOfDistrust = [
        NIOSSLExtraError.failedToValidateHostname, .serverHostnameImpossibleToMatch,
    ]

    private static func meaning(of error: HTTPClientError) -> (Reason, String) {
        // Never the full description: it includes the header fields that were rejected.
        let kind = error.shortDescription
        return switch kind {
        case _ where kindsOfTimeout.contains(kind): timedOut
        case _ where kindsOfRefusal.contains(kind): (.invalidRequest, "is not what the client can ask: \(kind)")
        case HTTPClientError.alreadyShutdown.shortDescription:
            (.closed, "was asked of a client that is closed")
        case HTTPClientError.redirectLimitReached.shortDescription,
            HTTPClientError.redirectCycleDetected.shortDescription:
            (.tooManyRedirects, "was redirected too often: \(kind)")
        case HTTPClientError.cancelled.shortDescription:
            (.interrupted, "was not answered whole: the client was closed meanwhile")
        default: (.interrupted, "was not answered whole: \(kind)")
        }
    }

    private static let kindsOfTimeout = Set(
        [
            HTTPClientError.readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded,
            .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
        ].map(\.shortDescription)
    )

    private static let kindsOfRefusal = Set(
        [
            HTTPClientError.invalidURL, .emptyHost, .emptyScheme, .unsupportedScheme(""), .missingSocketPath,
            .traceRequestWithBody, .invalidHeaderFieldNames([]), .invalidHeaderFieldValues([]), .bodyLengthMismatch,
        ].map(\.shortDescription)
    )
}
#endif
