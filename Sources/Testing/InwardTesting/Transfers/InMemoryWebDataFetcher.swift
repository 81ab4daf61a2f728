public import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A data fetcher that acts as a web server with resources in memory, including partial uploads and downloads.
///
/// ```swift
/// let server = InMemoryWebDataFetcher()
/// server["/avatars/7.jpg"] = [1, 2, 3]
/// let url = CommentClient.baseURL.appending(path: "avatars/7.jpg")
/// let response = try await server.fetch(DataRequest(url: url, headerFields: [HeaderField(.range, "bytes=0-1")]))
/// print(response.status)  // 206 Partial Content
/// ```
///
/// The server answers `GET`, `HEAD`, `PUT`, `DELETE` and `MOVE` (RFC 9110 and RFC 4918) for any path on any host. A range must
/// have both positions, as in `bytes=0-1`. Without an ability, the server behaves like real servers that lack it: it answers a
/// range request with the whole resource, and treats a partial upload as a complete one.
public final class InMemoryWebDataFetcher: DataFetcher {
    /// The abilities of a server.
    public struct Abilities: OptionSet, Sendable {
        /// The abilities as bits.
        public let rawValue: Int

        /// Creates abilities from bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The server supports partial downloads.
        public static let givingParts = Self(rawValue: 1)
        /// The server supports partial uploads.
        public static let takingParts = Self(rawValue: 2)
        /// The server identifies versions by strong entity tags, and honors conditions on them.
        public static let tagging = Self(rawValue: 4)
        /// All abilities.
        public static let all: Self = [.givingParts, .takingParts, .tagging]
    }

    private struct State {
        var bodies: [String: (bytes: Data, version: Int)] = [:]
        var version = 0
        var requests: [DataRequest] = []

        mutating func set(_ bytes: Data?, at path: String) {
            version += 1
            let version = version
            bodies[path] = bytes.map { ($0, version) }
        }
    }

    private let abilities: Abilities
    private let whenAsked: @Sendable (InMemoryWebDataFetcher, DataRequest) throws(FetchError) -> Void
    private let state = Mutex(State())

    /// Creates an empty server.
    ///
    /// - Parameters:
    ///   - abilities: The abilities of the server.
    ///   - whenAsked: Called before each request is processed, for example to change resources or to fail.
    public init(
        _ abilities: Abilities = .all,
        whenAsked: @escaping @Sendable (InMemoryWebDataFetcher, DataRequest) throws(FetchError) -> Void = { _, _ in }
    ) {
        self.abilities = abilities
        self.whenAsked = whenAsked
    }

    /// The requests so far, in order.
    public var requests: [DataRequest] { state.withLock(\.requests) }

    /// The resource at a path, such as `/data`. Setting it creates another version, and setting `nil` removes it.
    public subscript(path: String) -> [UInt8]? {
        get { state.withLock { $0.bodies[path].map { [UInt8]($0.bytes) } } }
        set { state.withLock { $0.set(newValue.map { Data($0) }, at: path) } }
    }

    /// The paths of all resources, sorted.
    public var paths: [String] { state.withLock { $0.bodies.keys.sorted() } }

    /// Processes a request.
    ///
    /// - Throws: The prescribed `FetchError`, or one for a cancelled task.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        state.withLock { $0.requests.append(request) }
        try whenAsked(self, request)
        guard !Task.isCancelled else {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        return state.withLock { state in
            let path = request.url.path(percentEncoded: true)
            switch request.method {
            case .get, .head: return answer(to: request, from: state.bodies[path])
            case .put: return put(request, at: path, &state)
            case .delete:
                guard state.bodies[path] != nil else { return DataResponse(status: .notFound) }
                state.set(nil, at: path)
                return DataResponse(status: 204)
            case .move:
                guard let body = state.bodies[path], let destination = request.headerFields[.destination],
                    let target = URL(string: destination)
                else { return DataResponse(status: .notFound) }
                state.set(nil, at: path)
                state.set(body.bytes, at: target.path(percentEncoded: true))
                return DataResponse(status: 204)
            default: return DataResponse(status: .methodNotAllowed)
            }
        }
    }

    private func put(_ request: DataRequest, at path: String, _ state: inout State) -> DataResponse {
        var bytes = request.body ?? Data()
        if abilities.contains(.takingParts), let range = request.headerFields[.contentRange] {
            guard let offset = Int(range.dropFirst("bytes ".count).prefix { $0 != "-" }) else {
                return DataResponse(status: 400)
            }
            let before = state.bodies[path]?.bytes ?? Data()
            guard offset <= before.count else { return DataResponse(status: .rangeNotSatisfiable) }
            bytes = Data(before.prefix(offset)) + bytes + Data(before.dropFirst(offset + bytes.count))
        }
        state.set(bytes, at: path)
        return DataResponse(status: .created)
    }

    private func answer(to request: DataRequest, from body: (bytes: Data, version: Int)?) -> DataResponse {
        guard let body else { return DataResponse(status: .notFound) }
        let tag = "\"\(body.version)\""
        var response = DataResponse(body: body.bytes)
        if abilities.contains(.tagging) {
            response.headerFields[.etag] = tag
            if request.headerFields[.ifNoneMatch] == tag {
                response.status = .notModified
                response.body = Data()
                return response
            }
            if let wanted = request.headerFields[.ifRange], wanted != tag { return response }
        }
        if abilities.contains(.givingParts), let range = request.headerFields[.range] { part(range, of: &response) }
        return response
    }

    private func part(_ range: String, of response: inout DataResponse) {
        let positions = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        let total = response.body.count
        guard positions.count == 2, positions[0] < total else {
            response.status = .rangeNotSatisfiable
            response.headerFields[.contentRange] = "bytes */\(total)"
            response.body = Data()
            return
        }
        let last = min(positions[1], total - 1)
        response.status = .partialContent
        response.headerFields[.contentRange] = "bytes \(positions[0])-\(last)/\(total)"
        response.body = Data(response.body.dropFirst(positions[0]).prefix(last - positions[0] + 1))
    }
}
