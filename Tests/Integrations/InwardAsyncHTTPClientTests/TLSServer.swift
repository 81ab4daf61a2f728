#if AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// An HTTPS server on a loopback socket. It accepts the given TLS versions and gives every request the same response.
final class TLSServer: Sendable {
    /// The address of the server.
    let address: String
    private let count: Counter

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    private init(port: Int, count: Counter) {
        address = "https://localhost:\(port)/"
        self.count = count
    }

    /// The number of requests that the server has read.
    var requestCount: Int { count.value.load(ordering: .sequentiallyConsistent) }

    /// Runs a test against a server, and stops the server afterwards.
    ///
    /// - Parameters:
    ///   - minimum: The lowest TLS version.
    ///   - maximum: The highest TLS version, or `nil` for the newest.
    ///   - status: The status of the response.
    ///   - headers: The header fields of the response.
    ///   - test: The test.
    /// - Throws: The error of the test, or an error if the server cannot be started.
    static func serving(
        from minimum: TLSVersion = .tlsv1,
        upTo maximum: TLSVersion? = nil,
        status: HTTPResponseStatus = .ok,
        headers: HTTPHeaders = [:],
        test: (TLSServer) async throws -> Void
    ) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try certificate)],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        )
        configuration.minimumTLSVersion = minimum
        configuration.maximumTLSVersion = maximum
        let context = try NIOSSLContext(configuration: configuration)
        let count = Counter()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
                    try channel.pipeline.syncOperations.addHandler(
                        Answering(head) {
                            count.value.add(1, ordering: .sequentiallyConsistent)
                        }
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await test(TLSServer(port: channel.localAddress?.port ?? 0, count: count))
        } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    /// Responds to every request.
    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let head: HTTPResponseHead
        private let note: () -> Void

        init(_ head: HTTPResponseHead, noting note: @escaping () -> Void) {
            self.head = head
            self.note = note
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            note()
            var head = head
            head.headers.replaceOrAdd(name: "Content-Length", value: "0")
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }

    /// The server's certificate, which was made for these tests. It is self-signed, so clients trust it only if they are
    /// configured to.
    static var certificate: NIOSSLCertificate {
        get throws { try NIOSSLCertificate(bytes: Array(text.utf8), format: .pem) }
    }

    private static let text = """
        -----BEGIN CERTIFICATE-----
        MIIBYjCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
        c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
        CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHelBp60Hx6CUHkB
        tYd/2FrN/NB93oV2njMMfWHpqdxbzXmCO42WbVXLPbrbEJ6vS45WwheKobfZqPvH
        OF9DPUujSDBGMA8GA1UdEwEB/wQFMAMBAf8wFAYDVR0RBA0wC4IJbG9jYWxob3N0
        MB0GA1UdDgQWBBRyt8cfJhPpkoH4KtwiEsH280MflTAKBggqhkjOPQQDAgNJADBG
        AiEAs4cLeoS1Kfz5CWFw+yha6F5qsYH/KIDclfv9D7bj82YCIQC7rinQUOwi1R1q
        nWbMfiSnX8L6tATvbEzUoIww4Ni4ow==
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgF4oInGMB6YC1aj3R
        Cih4fXIdJcqKG8f3EQZlsVZtcp+hRANCAAR3pQaetB8eglB5AbWHf9hazfzQfd6F
        dp4zDH1h6ancW815gjuNlm1Vyz262xCer0uOVsIXiqG32aj7xzhfQz1L
        -----END PRIVATE KEY-----
        """
}
#endif
