import AsyncHTTPClient
import NIOCore
import NIOHTTPCompression

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

    /// Returns the body at an address, as a user of the bare client would request it.
    func body(at address: String, upTo limit: Int) async throws -> ByteBuffer {
        let response = try await execute(HTTPClientRequest(url: address), deadline: .now() + .seconds(30))
        return try await response.body.collect(upTo: limit)
    }
}
