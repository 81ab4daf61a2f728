public import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The answers that a test server must give to the requests of a ``DataFetcherConformance``.
///
/// Pass each request that the server receives to ``answer(to:)``, and send the result:
///
/// ```swift
/// let upstream = ConformanceUpstream()
/// let request = DataRequest(url: CommentClient.baseURL.appending(path: "count"))
/// switch upstream.answer(to: request) {
/// case .whole(let response): print("Send \(response.status) and \(response.body.count) bytes.")
/// case .cutShort(let part, promised: let length): print("Promise \(length ?? 0) bytes, send \(part.count), disconnect.")
/// case .unfinished(let part, promised: let length): print("Promise \(length) bytes, send \(part.count), wait.")
/// case .never: print("Wait until the client disconnects.")
/// }
/// ```
///
/// The last path component selects the answer, so the server can serve other content at other paths. <doc:ConformanceSuites>
/// shows a complete check.
public final class ConformanceUpstream: Sendable {
    /// What the server sends.
    public enum Answer: Hashable, Sendable {
        /// A complete response: the status, each header field on its own line, and the body. The response to `HEAD` has no
        /// body.
        case whole(DataResponse)
        /// A header with the status 200 that promises a length, followed by fewer body bytes and the end of the connection.
        /// Without a promised length, the header announces a chunked body. The bytes form one chunk, and the last chunk never
        /// comes.
        case cutShort(Data, promised: Int?)
        /// A header with the status 200 that promises a length, followed by fewer body bytes and then nothing until the client
        /// disconnects.
        case unfinished(Data, promised: Int)
        /// Nothing, until the client disconnects.
        case never
    }

    /// The number of requests by last path component.
    private let asked = Mutex<[String: Int]>([:])

    /// Creates an upstream that has received no requests.
    public init() {}

    /// Returns the answer to a request. Pass the URL, header fields and body exactly as the server received them.
    public func answer(to request: DataRequest) -> Answer {
        let name = request.url.lastPathComponent
        let count = asked.withLock { asked in
            asked[name, default: 0] += 1
            return asked[name, default: 0]
        }
        switch name {
        case "silence": return .never
        case "unfinished": return .unfinished(Data(repeating: 0x78, count: 1_000), promised: 2_000)
        case "cut-short": return .cutShort(Data(repeating: 0x78, count: 1_000), promised: 2_000)
        case "cut-short-chunks": return .cutShort(Data(repeating: 0x78, count: 1_000), promised: nil)
        case "host": return .whole(DataResponse(body: Data((request.headerFields[.host] ?? "").utf8)))
        case "moved":
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
            let target = items.first { $0.name == "to" }?.value ?? ""
            return .whole(DataResponse(status: 302, headerFields: [HeaderField(.location, target)]))
        case "count":
            return .whole(
                DataResponse(
                    headerFields: [HeaderField(.cacheControl, "max-age=600"), HeaderField(.etag, "\"1\"")],
                    body: Data(String(count).utf8)
                )
            )
        case _ where name.hasPrefix(Self.askedPrefix):
            let other = String(name.dropFirst(Self.askedPrefix.count))
            return .whole(DataResponse(body: Data(String(asked.withLock { $0[other, default: 0] }).utf8)))
        default:
            var response = Self.response(to: request)
            if request.method == .head { response.body = Data() }
            return .whole(response)
        }
    }

    /// Returns the responses that never change.
    private static func response(to request: DataRequest) -> DataResponse {
        let name = request.url.lastPathComponent
        switch name {
        case "large": return DataResponse(body: large)
        case "fields":
            return DataResponse(
                headerFields: [
                    HeaderField(.contentType, "text/plain"), HeaderField(.vary, "X-Asked"),
                    HeaderField(.vary, "If-None-Match"),
                ],
                body: Data("fields".utf8)
            )
        case _ where name.hasPrefix("status-"):
            let status = Int(name.dropFirst("status-".count)) ?? 500
            return DataResponse(
                status: DataResponse.Status(status),
                body: [204, 304].contains(status) ? Data() : Data(name.utf8)
            )
        default: return DataResponse(headerFields: [HeaderField(.contentType, "text/plain")], body: echo(of: request))
        }
    }

    /// Returns the method, path, query and body of a request, and some of its header fields: those that clients do not add on
    /// their own, or, for the path ``chosen``, those for which clients have defaults.
    private static func echo(of request: DataRequest) -> Data {
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        var lines = ["\(request.method) \(request.url.path(percentEncoded: true))\(query)"]
        for name in request.url.lastPathComponent == chosen ? chosenNames : echoedNames {
            // Joined, because clients may combine repeated fields into one.
            if let value = request.headerFields[name] { lines.append("\(name): \(value)") }
        }
        return Data(lines.joined(separator: "\n").utf8) + Data("\n\n".utf8) + (request.body ?? Data())
    }

    private static let echoedNames = [asked, .authorization, .ifNoneMatch].compactMap(\.self)
    private static let asked = HeaderField.Name("X-Asked")
    /// The path of the request that sets header fields for which clients have defaults.
    private static let chosen = "chosen-fields"
    private static let chosenNames = [.accept, .contentType, HeaderField.Name("User-Agent")].compactMap(\.self)

    /// More than 1 MiB of bytes whose pattern does not repeat at offsets where a body might be cut.
    private static let large = Data((0..<1_100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    /// Statuses that a fetcher passes through. Those that ask a client to act, such as redirects, are left out.
    private static let statuses = [
        201, 202, 203, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 422, 429, 451, 500, 502, 503, 504,
    ]

    private static let askedPrefix = "asked-"

    /// Returns the request that the server answers with the number of times that another request was made.
    static func counting(_ other: DataRequest, at server: URL) -> DataRequest {
        DataRequest(url: server.appending(path: askedPrefix + other.url.lastPathComponent))
    }

    /// Returns the requests to a server and the expected responses.
    static func exchanges(at server: URL) -> [DataFetcherExchange] {
        let address = server.appending(path: "echo")
        let query = { server.appending(path: "echo").appending(queryItems: [URLQueryItem(name: "a", value: $0)]) }
        var requests = [
            DataRequest(url: address),
            DataRequest(url: query("1")), DataRequest(url: query("2")), DataRequest(url: query("ü /&+%")),
            DataRequest(url: server.appending(path: "ü ;/echo")),
            DataRequest(url: server.appending(path: "large")), DataRequest(url: server.appending(path: "fields")),
        ]
        requests += [DataRequest.Method.post, .put, .patch, .delete].map { DataRequest(method: $0, url: address) }
        requests += [Data("one".utf8), Data("two".utf8), Data(0...255), large].map { body in
            DataRequest(method: .post, url: address, body: body)
        }
        requests.append(DataRequest(method: .put, url: address, body: Data("one".utf8)))
        if let asked {
            let one = HeaderField(asked, "one")
            let two = HeaderField(asked, "two")
            requests += [[one], [two], [one, two]].map { DataRequest(url: address, headerFields: $0) }
        }
        requests += [
            DataRequest(url: address, headerFields: [HeaderField(.authorization, "Bearer one")]),
            DataRequest(url: address, headerFields: [HeaderField(.ifNoneMatch, "\"one\"")]),
        ]
        let chosenFields = chosenNames.enumerated().map { HeaderField($1, "application/vnd.inward-\($0)+json") }
        requests.append(
            DataRequest(
                method: .post,
                url: server.appending(path: chosen),
                headerFields: HeaderFields(chosenFields),
                body: Data("{}".utf8)
            )
        )
        requests += statuses.map { DataRequest(url: server.appending(path: "status-\($0)")) }
        return requests.map { DataFetcherExchange($0, response(to: $0)) }
            + ["cut-short", "cut-short-chunks"].map { name in
                DataFetcherExchange(DataRequest(url: server.appending(path: name)), failing: .interrupted)
            }
    }

    /// Returns requests to a server that a web client must not send.
    static func impossibleRequests(at server: URL) -> [DataRequest] {
        let count = server.appending(path: "count")
        let long = count.appending(queryItems: [URLQueryItem(name: "a", value: String(repeating: "x", count: 10_000))])
        let framing = ["Content-Length", "Transfer-Encoding", "Connection"].compactMap(HeaderField.Name.init)
        return [DataRequest(url: count, body: Data("x".utf8)), DataRequest(url: long)]
            + framing.map {
                DataRequest(method: .post, url: count, headerFields: [HeaderField($0, "1")], body: Data("x".utf8))
            }
    }
}
