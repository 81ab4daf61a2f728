import Foundation
import InwardFetching
import NIOCore
import NIOFoundationEssentialsCompat
import NIOHTTP1
import NIOPosix

/// A data fetcher that sends requests to one server as they are, each on a connection of its own, and passes on interim responses.
struct OriginDataFetcher: DataFetcher {
    let host: String
    let port: Int

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    private static let bodyLimit = 64 * 1_024 * 1_024

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let connection: Connection
        do {
            connection = try await connect()
        } catch {
            let explanation = "could not reach the host: \(error)"
            throw FetchError(.unreachable, request: request, explanation: explanation, wasSent: false)
        }
        do {
            return try await connection.executeThenClose { inbound, outbound in
                let body = request.body.map { [HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(data: $0)))] } ?? []
                // At once, because the server may answer and close the connection before it has read the end.
                try await outbound.write(contentsOf: [.head(HTTPRequestHead(request))] + body + [.end(nil)])
                return try await response(in: inbound, to: request)
            }
        } catch {
            if Task.isCancelled { throw FetchError(.cancelled, request: request, explanation: "was cancelled") }
            throw error as? FetchError
                ?? FetchError(.interrupted, request: request, explanation: "got no complete response: \(error)")
        }
    }

    private func connect() async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(10))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Interim responses are dropped by default.
                    let decoder = HTTPResponseDecoder(informationalResponseStrategy: .forward)
                    try channel.pipeline.syncOperations.addHandlers(
                        HTTPRequestEncoder(),
                        ByteToMessageHandler(decoder)
                    )
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    private func response(
        in parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>,
        to request: DataRequest
    ) async throws -> DataResponse {
        var response: DataResponse?
        for try await part in parts {
            switch part {
            case .head(let head) where head.status.code < 200: request.onInterimResponse?(DataResponse(head))
            case .head(let head): response = DataResponse(head)
            case .body(var buffer):
                response?.body.append(buffer.readData(length: buffer.readableBytes) ?? Data())
                if let count = response?.body.count, count > Self.bodyLimit {
                    throw FetchError(.tooLarge, request: request, explanation: "was answered with more than 64 MiB")
                }
            case .end:
                if let response { return response }
            }
        }
        throw FetchError(.interrupted, request: request, explanation: "got no complete response")
    }
}

extension HTTPRequestHead {
    fileprivate init(_ request: DataRequest) {
        let target = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        var uri = target?.percentEncodedPath ?? ""
        if uri.isEmpty { uri = "/" }
        if let query = target?.percentEncodedQuery { uri += "?\(query)" }
        self.init(version: .http1_1, method: HTTPMethod(rawValue: request.method.rawValue), uri: uri)
        for field in request.headerFields { headers.add(name: field.name.rawValue, value: field.value) }
        headers.replaceOrAdd(
            name: "Host",
            value: "\(target?.percentEncodedHost ?? "")\(target?.port.map { ":\($0)" } ?? "")"
        )
        headers.add(name: "Connection", value: "close")
        if let body = request.body { headers.replaceOrAdd(name: "Content-Length", value: "\(body.count)") }
    }
}

extension DataResponse {
    fileprivate init(_ head: HTTPResponseHead) {
        let fields = head.headers.compactMap { name, value in HeaderField.Name(name).map { HeaderField($0, value) } }
        self.init(status: Status(Int(head.status.code)), headerFields: HeaderFields(fields))
    }
}
