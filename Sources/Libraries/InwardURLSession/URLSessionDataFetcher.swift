import Foundation
import InwardCore
public import InwardFetching

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Security)
import Security
#endif

/// Fetches over HTTP and HTTPS with the platform's own client.
///
/// Nothing is kept between requests but connections: no cookies, no cache, no credentials. Share one among all who talk to
/// the same hosts; its connections close when the last reference to it is gone.
///
/// Where the platform's client says less than the wire did, so does this: header fields that repeat arrive joined by commas
/// (which RFC 9110 section 5.3 holds for the same, except for `Set-Cookie`), those of different names in any order, and a
/// compressed body arrives decoded, without the fields that describe its coding. The client adds fields that it is not given,
/// such as `Accept`, `Accept-Encoding`, `Accept-Language` and `User-Agent`.
///
/// Outside of Apple's platforms a request that has a body, or that may not be done twice, goes out on a new connection, which
/// closes behind it: on one that was used before, the client would send it again when the upstream hangs up.
///
/// The proxy variables of the environment (`http_proxy`, `https_proxy`, `all_proxy`) are not obeyed unless the fetcher is told
/// to. Outside of Apple's platforms the client would obey them and cannot be kept from it, so a fetch that it would send through
/// a proxy fails before it is sent, with the reason `untrusted`. To ignore the variables, call
/// ``EnvironmentProxies/ignore()`` first in `main`, or start the process without them.
///
/// On Apple's platforms TLS 1.2 is the minimum. Elsewhere the client cannot be given one, and takes the lowest version that
/// its TLS library has enabled, which may be TLS 1.0: use `AsyncHTTPClientDataFetcher` where that matters.
///
/// Each origin has connections and threads of its own. For upstreams that are trusted to be no enemies nonetheless: outside
/// of Apple's platforms the client reads as fast as they send, and several answers without an end at once keep the machine
/// busy, although each fetch fails at its limit. See Architecture.md.
public final class URLSessionDataFetcher: DataFetcher {
    private let clients: URLSessionClients
    private let bodyLimit: Int
    private let redirects: RedirectPolicy
    private let forbiddenProxies: EnvironmentProxies

    /// Makes a fetcher with connections of its own.
    ///
    /// - Parameters:
    ///   - idleTimeout: How long nothing may arrive, from the start or in between, before the fetch fails. It does not bound
    ///     the whole transfer.
    ///   - bodyLimit: How many bytes a body may have, once decoded. A larger one fails as soon as that is known.
    ///   - redirects: What becomes of an answer that points elsewhere.
    ///   - connectionsPerHost: How many connections are open to one host at the most, those for a single request apart. What is
    ///     beyond that waits.
    ///   - usesEnvironmentProxies: Whether requests may go through the proxies that the environment names. On Apple's
    ///     platforms they never do.
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

    /// Makes a fetcher that sends nothing where it would go through one of these proxies.
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

    /// Each fetch ends when the deadline of its task passes.
    public var honorsDeadlines: Bool { true }

    /// The answer to a request for an HTTP or HTTPS address, whatever its status.
    ///
    /// - Throws: a `FetchError` if there is no whole answer.
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
