import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOSSL

extension HTTPClient {
    /// Creates a client with the settings that the data fetcher uses for its own client.
    static func alone(connectionsPerHost: Int, bodyLimit: Int) -> HTTPClient {
        var configuration = Configuration(
            redirectConfiguration: .disallow,
            timeout: Configuration.Timeout(connect: .seconds(30)),
            decompression: .enabled(limit: .size(bodyLimit))
        )
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tracing.tracer = nil
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Creates a client that trusts the certificate in a PEM file. A data fetcher can use it, because it does not decompress bodies.
    static func trusting(_ certificate: String) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate))
        var configuration = Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: Configuration.Timeout(connect: .seconds(30))
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tracing.tracer = nil
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Returns the body at an address, as a user of the bare client would request it.
    ///
    /// - Throws: An ``UnexpectedAnswer`` if it did not come over a version of HTTP.
    func body(at address: String, over version: HTTPVersion, upTo limit: Int) async throws -> ByteBuffer {
        let response = try await execute(HTTPClientRequest(url: address), deadline: .now() + .seconds(30))
        guard response.version == version else { throw UnexpectedAnswer() }
        return try await response.body.collect(upTo: limit)
    }
}
