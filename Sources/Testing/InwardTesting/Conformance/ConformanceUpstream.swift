public import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a test server answers, so that ``DataFetcherConformance`` can find every flaw of a fetcher.
///
/// Let the server hand every request to ``answer(to:)`` and send what it gets:
///
///     let upstream = ConformanceUpstream()
///     try await MyServer.serving({ request in MyAnswer(upstream.answer(to: request)) }) { server in
///         let conformance = DataFetcherConformance(server: server.url, impossible: DataRequest(url: URL(filePath: "/")))
///         try await conformance.check(MyDataFetcher())
///     }
///
/// The last component of the path says what is answered, so that the server may serve other things elsewhere.
public final class ConformanceUpstream: Sendable {
    /// What the server sends.
    public enum Answer: Hashable, Sendable {
        /// A whole answer: the status, the header fields each in a line of its own, and the body; no body in an answer to `HEAD`.
        case whole(DataResponse)
        /// A head with the status 200 that promises a length, fewer bytes of the body, and the end of the connection. Where no length
        /// is promised, the head says that the body comes in chunks; these bytes are one, and the last one never comes.
        case cutShort(Data, promised: Int?)
        /// A head with the status 200 that promises a length, fewer bytes of the body, and nothing more until the client hangs up.
        case unfinished(Data, promised: Int)
        /// Nothing, until the client hangs up.
        case never
    }

    /// How often each thing was asked for, by the last component of its path.
    private let asked = Mutex<[String: Int]>([:])

    /// Makes an upstream that was not asked yet.
    public init() {}

    /// Returns the answer to a request as it arrived: with the address, the header fields and the body that the server read.
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

    /// The answers that are always the same.
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

    /// The method, the path and the query, the body, and the header fields that clients do not add by themselves, or those that they
    /// do where a request sets them.
    private static func echo(of request: DataRequest) -> Data {
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        var lines = ["\(request.method) \(request.url.path(percentEncoded: true))\(query)"]
        for name in request.url.lastPathComponent == chosen ? chosenNames : echoedNames {
            // Joined, because clients may send repeats of a field as one.
            if let value = request.headerFields[name] { lines.append("\(name): \(value)") }
        }
        return Data(lines.joined(separator: "\n").utf8) + Data("\n\n".utf8) + (request.body ?? Data())
    }

    private static let echoedNames = [asked, .authorization, .ifNoneMatch].compactMap(\.self)
    private static let asked = HeaderField.Name("X-Asked")
    /// The path of the request that sets the fields for which clients have defaults.
    private static let chosen = "chosen-fields"
    private static let chosenNames = [.accept, .contentType, HeaderField.Name("User-Agent")].compactMap(\.self)

    /// More than a mebibyte of bytes that do not repeat at any place where something might be cut.
    private static let large = Data((0..<1_100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    /// Statuses that a fetcher gives as they are. Those that ask a client to act, such as redirects, are left out.
    private static let statuses = [
        201, 202, 203, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 422, 429, 451, 500, 502, 503, 504,
    ]

    private static let askedPrefix = "asked-"

    /// What the server answers with how often it was asked for the same as in another request.
    static func counting(_ other: DataRequest, at server: URL) -> DataRequest {
        DataRequest(url: server.appending(path: askedPrefix + other.url.lastPathComponent))
    }

    /// What is asked of the server at an address, and what must come back.
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

    /// Requests to the server that a web client must not send.
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
