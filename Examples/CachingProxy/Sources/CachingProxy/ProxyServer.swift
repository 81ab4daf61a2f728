import Foundation
import InwardFetching
import NIOCore
import NIOFoundationEssentialsCompat
import NIOHTTP1
import NIOPosix

/// A server that passes requests to a data fetcher.
struct ProxyServer {
    let origin: URL
    let dataFetcher: any DataFetcher

    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private static let bodyLimit = 8 * 1_024 * 1_024

    /// Serves until the task is cancelled.
    func run(port: Int, listening: (_ port: Int) -> Void) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        listening(server.channel.localAddress?.port ?? port)
        try await withThrowingDiscardingTaskGroup { group in
            try await server.executeThenClose { connections in
                for try await connection in connections {
                    // A connection that breaks concerns nobody else.
                    group.addTask { try? await serve(connection) }
                }
            }
        }
    }

    private func serve(_ connection: Connection) async throws {
        let channel = connection.channel
        try await connection.executeThenClose { inbound, outbound in
            var head: HTTPRequestHead?
            var body = Data()
            for try await part in inbound {
                switch part {
                case .head(let new): (head, body) = (new, Data())
                case .body(let buffer):
                    body += buffer.readableBytesView
                    guard body.count <= Self.bodyLimit else { return }
                case .end:
                    guard let head else { return }
                    let response = await response(to: head, body: body) { interim in
                        channel.writeAndFlush(HTTPServerResponsePart.head(HTTPResponseHead(interim)), promise: nil)
                    }
                    var answer = HTTPResponseHead(response)
                    if head.method != .HEAD, !response.body.isEmpty || response.mayHaveBody {
                        answer.headers.replaceOrAdd(name: "Content-Length", value: "\(response.body.count)")
                    }
                    try await outbound.write(.head(answer))
                    if head.method != .HEAD, !response.body.isEmpty {
                        try await outbound.write(.body(.byteBuffer(ByteBuffer(data: response.body))))
                    }
                    try await outbound.write(.end(nil))
                    if !head.isKeepAlive { return }
                }
            }
        }
    }

    private func response(
        to head: HTTPRequestHead,
        body: Data,
        passingOn pass: @escaping @Sendable (DataResponse) -> Void
    ) async -> DataResponse {
        // Only the path and the query are taken from the request, so that it cannot lead elsewhere.
        guard head.uri.hasPrefix("/"), let url = URL(string: origin.root + head.uri),
            let method = DataRequest.Method(head.method.name)
        else { return DataResponse(status: 400) }
        var request = DataRequest(method: method, url: url, headerFields: HeaderFields(head.headers).forwarded)
        if !body.isEmpty || head.headers.contains(name: "Content-Length") { request.body = body }
        request.headerFields[.host] = nil
        if let via = HeaderField.Name("Via") { request.headerFields.append(HeaderField(via, "1.1 caching-proxy")) }
        request.onInterimResponse = pass
        do {
            return try await dataFetcher.fetch(request)
        } catch {
            let status: DataResponse.Status = error.reason == .timedOut ? 504 : 502
            return DataResponse(status: status, body: Data("\(error)\n".utf8))
        }
    }
}

extension HTTPMethod {
    /// The registered name. The raw value lacks the hyphen of one of them.
    fileprivate var name: String { self == .MSEARCH ? "M-SEARCH" : rawValue }
}

extension URL {
    /// The URL without its path.
    fileprivate var root: String {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true) ?? URLComponents()
        components.path = ""
        components.query = nil
        return components.string ?? ""
    }
}

extension DataResponse {
    /// Whether the status allows a body (RFC 9110 section 6.4.1).
    fileprivate var mayHaveBody: Bool { ![204, 304].contains(status.code) && status.code >= 200 }
}

extension HeaderFields {
    /// The names of the fields that concern one connection (RFC 9110 section 7.6.1).
    private static let namesOfConnections = Set(
        [
            "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "TE",
            "Trailer",
            "Transfer-Encoding", "Upgrade",
        ]
        .compactMap(HeaderField.Name.init)
    )

    fileprivate init(_ headers: HTTPHeaders) {
        self.init(headers.compactMap { name, value in HeaderField.Name(name).map { HeaderField($0, value) } })
    }

    /// The fields without those that concern one connection, which include those that `Connection` names.
    fileprivate var forwarded: HeaderFields {
        let named = filter { $0.name.rawValue.lowercased() == "connection" }.flatMap { $0.value.split(separator: ",") }
            .compactMap { HeaderField.Name($0.trimmingCharacters(in: .whitespaces)) }
        let excluded = Self.namesOfConnections.union(named)
        return HeaderFields(filter { !excluded.contains($0.name) })
    }
}

extension HTTPResponseHead {
    fileprivate init(_ response: DataResponse) {
        self.init(version: .http1_1, status: HTTPResponseStatus(statusCode: response.status.code))
        for field in response.headerFields.forwarded { headers.add(name: field.name.rawValue, value: field.value) }
    }
}
