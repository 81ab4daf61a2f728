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

/// Fetches over HTTP and HTTPS with AsyncHTTPClient, which keeps connections and speaks HTTP/1.1 and HTTP/2.
///
/// Nothing is kept between requests but connections: no cookies, no cache, no credentials. Share one among all who talk to
/// the same hosts, and ``close()`` it when nobody needs it any more; at the latest its connections close with the last
/// reference to it.
///
/// Header fields travel both ways in their order and as often as they repeat, but for `Cookie`, which a request has once. A
/// user name and a password in an address are sent as `Authorization`, unless the request has that field. Beside the fields of
/// the request, `Host`, `Content-Length` and `Accept-Encoding` are sent. A compressed body arrives decoded, without the fields
/// that describe its coding.
///
/// TLS 1.2 is the minimum. The proxy variables of the environment are ignored. To go through a proxy, or to trust other
/// certificates, hand over a client that is configured so.
public final class AsyncHTTPClientDataFetcher: DataFetcher {
    private let client: HTTPClient
    private let ownsClient: Bool
    private let idleTimeout: Duration
    private let bodyLimit: Int
    private let redirects: RedirectPolicy

    /// Makes a fetcher with a client of its own.
    ///
    /// - Parameters:
    ///   - idleTimeout: How long the head of an answer may take from the start of its request, and how long nothing of the
    ///     body may arrive after that, before the fetch fails; over zero. It does not bound the whole transfer.
    ///   - bodyLimit: How many bytes a body may have, once decoded. A larger one fails as soon as that is known.
    ///   - redirects: What becomes of an answer that points elsewhere.
    ///   - connectionsPerHost: How many connections of HTTP/1.1 are open to one host at the most. What is beyond that waits.
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
        // The same implementation on every platform, so that its errors are the same too.
        let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
        self.init(
            client: client,
            ownsClient: true,
            idleTimeout: idleTimeout,
            bodyLimit: bodyLimit,
            redirects: redirects
        )
    }

    /// The configuration of a client of the fetcher's own.
    static func clientConfiguration(
        connectTimeout: Duration,
        bodyLimit: Int,
        connectionsPerHost: Int
    ) -> HTTPClient.Configuration {
        // The default goes down to TLS 1.0, which RFC 8996 forbids.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: TimeAmount(connectTimeout)),
            decompression: .enabled(limit: .size(bodyLimit))
        )
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        // Otherwise a host that nobody listens at is asked again and again until the timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Spans would tell what the queries of addresses are, in which keys and signatures travel.
        configuration.tracing.tracer = nil
        return configuration
    }

    /// Makes a fetcher over a client of the caller's, who shuts it down when the fetcher is not used any more.
    ///
    /// - Parameters:
    ///   - client: A client that follows no redirects and decompresses nothing. A redirect that it followed is an error,
    ///     and the header fields of an answer are passed on as it gives them. Its TLS and proxy settings are the caller's.
    ///   - idleTimeout: How long the head of an answer may take from the start of its request, and how long nothing of the
    ///     body may arrive after that, before the fetch fails; over zero. It does not bound the whole transfer.
    ///   - bodyLimit: How many bytes a body may have. A larger one fails as soon as that is known.
    ///   - redirects: What becomes of an answer that points elsewhere.
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
        // In a debug build a client traps if it goes before it is shut down. It cannot: this call marks it as shutting down
        // before it returns, and holds it until it is shut down. Nobody else has a reference to it, because fetches hold
        // this object. One that is closed already says so to the callback, and that is nothing to do anything about.
        if ownsClient { client.shutdown { _ in } }
    }

    /// Each fetch ends when the deadline of its task passes.
    public var honorsDeadlines: Bool { true }

    /// The answer to a request for an HTTP or HTTPS address, whatever its status.
    ///
    /// - Throws: a `FetchError` if there is no whole answer; with the reason `closed` after the client is.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await redirects.answer(to: request, by: send)
    }

    /// Closes the connections and ends the fetches under way, which fail. From then on every fetch does.
    ///
    /// A client of the caller's stays as it is. To close once more does nothing.
    ///
    /// - Throws: what the client throws if it cannot be shut down.
    public func close() async throws {
        guard ownsClient else { return }
        do {
            try await client.shutdown()
        } catch let error as HTTPClientError where error == .alreadyShutdown {
            // Closed before, or at the same time.
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

    /// A year is as good as for ever, and no clock overflows by it.
    private static func bounded(_ timeout: Duration) -> Duration { min(timeout, .seconds(31_536_000)) }
}

extension FetchError {
    /// What an error of the client, or of what it is made of, means for a request.
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

    /// What the system says before anything can have been sent. "No route to host" can also come later.
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
        // Never the whole description: it shows the header fields that are refused.
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
