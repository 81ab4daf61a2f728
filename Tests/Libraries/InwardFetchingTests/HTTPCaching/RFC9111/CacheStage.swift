import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache between a test and an upstream with prescribed answers. Its date follows a manual clock.
struct CacheStage: Sendable {
    let clock: ManualClock
    let cache: ResponseCache
    let partition: ResponseCache.Partition
    let upstream: RecordingDataFetcher
    let fetcher: CachingDataFetcher

    /// The date at which every stage begins.
    private static let start = Date(timeIntervalSince1970: 784_108_800)

    /// Creates a cache whose upstream gives each request the next answer. A request after the last one fails.
    init(_ policy: CachePolicy = .private, _ answers: FetchFixture...) {
        self.init(policy, upstream: ScriptedDataFetcher(answers))
    }

    init(
        _ policy: CachePolicy = .private,
        clock: ManualClock = ManualClock(),
        over store: (any ResponseStore)? = nil,
        byteLimit: Int = 1_000_000,
        isLateBy seconds: Int = 0,
        reportFailure: @escaping @Sendable (ResponseStoreError) -> Void = { _ in },
        upstream: any DataFetcher
    ) {
        self.clock = clock
        cache = ResponseCache(byteLimit: byteLimit, clock: clock) {
            Self.start.addingTimeInterval(Double(Int(clock.now.offset.components.seconds) - seconds))
        }
        partition = cache.makePartition(policy, over: store, reportFailure: reportFailure)
        self.upstream = RecordingDataFetcher(upstream)
        fetcher = self.upstream.caching(in: partition)
    }

    /// Returns the date that is a number of seconds after the beginning, in the form of header fields.
    static func date(_ seconds: Int) -> String { start.addingTimeInterval(Double(seconds)).httpDate }

    func advance(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

    // MARK: Requests

    /// Sends a `GET` request with header fields such as `Range: bytes=0-1`.
    func get(path: String = "", _ fields: String...) async throws -> DataResponse {
        try await send(.get, path: path, fields)
    }

    func send(_ method: DataRequest.Method, path: String = "", _ fields: String...) async throws -> DataResponse {
        try await send(method, path: path, fields)
    }

    func send(_ method: DataRequest.Method, path: String = "", _ fields: [String]) async throws -> DataResponse {
        try await fetcher.fetch(request(method, path: path, fields))
    }

    func request(_ method: DataRequest.Method = .get, path: String = "", _ fields: [String] = []) throws -> DataRequest
    {
        var request = try DataRequest.example("http://upstream.test/" + path, method: method)
        request.headerFields = HeaderFields(lines: fields)
        return request
    }

    /// The requests that reached the upstream.
    var requests: [DataRequest] { upstream.requests }

    /// Returns whether a cache answers a second request with the response to a first one.
    ///
    /// - Parameters:
    ///   - answer: The response to the first request.
    ///   - policy: The policy of the cache.
    ///   - seconds: The time between the requests.
    ///   - first: The fields of the first request.
    ///   - second: The fields of the second request.
    /// - Returns: Whether the second answer came from the cache.
    /// - Throws: The errors of the cache.
    static func reuses(
        _ answer: FetchFixture,
        _ policy: CachePolicy = .private,
        after seconds: Int = 0,
        first: [String] = [],
        second: [String] = []
    ) async throws -> Bool {
        let stage = CacheStage(policy, answer, .response("other"))
        _ = try await stage.send(.get, first)
        stage.advance(seconds)
        return try await stage.send(.get, second).origin == .memory
    }

    /// Returns the number of seconds for which a cache reuses a response, up to a limit.
    static func lifetime(
        of answer: FetchFixture,
        _ policy: CachePolicy = .private,
        upTo limit: Int = 200_000
    ) async throws -> Int {
        var (reused, expired) = (-1, limit)
        while expired - reused > 1 {
            let middle = (reused + expired) / 2
            if try await reuses(answer, policy, after: middle) { reused = middle } else { expired = middle }
        }
        return expired
    }
}

extension CachePolicy {
    static let both = [CachePolicy.private, .shared]
}

extension HeaderFields {
    /// Creates header fields from lines such as `ETag: "a"`.
    init(lines: [String]) {
        self.init()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard let name = HeaderField.Name(parts[0]) else {
                Issue.record("\(line) is not a header field.")
                continue
            }
            append(HeaderField(name, parts.count > 1 ? parts[1] : ""))
        }
    }
}

extension FetchFixture {
    /// Returns an answer with header fields such as `ETag: "a"`.
    static func response(
        _ body: String = "",
        status: DataResponse.Status = .ok,
        _ fields: String...
    ) -> Self {
        .answer(DataResponse(body, status: status, fields))
    }

    /// Returns a fresh answer for a minute, with more header fields.
    static func fresh(_ body: String = "", status: DataResponse.Status = .ok, _ fields: String...) -> Self {
        .answer(DataResponse(body, status: status, ["Cache-Control: max-age=60"] + fields))
    }

    /// Returns the news that the caller's copy is current.
    static func notModified(_ fields: String...) -> Self {
        .answer(DataResponse(status: .notModified, fields))
    }
}

extension DataResponse {
    init(_ body: String = "", status: Status = .ok, _ lines: [String]) {
        self.init(status: status, headerFields: HeaderFields(lines: lines), body: Data(body.utf8))
    }

    var text: String { String(decoding: body, as: UTF8.self) }
    var isReused: Bool { origin == .memory }
    var cacheStatus: String? { headerFields[.cacheStatus] }

    subscript(name: String) -> String? { HeaderField.Name(name).flatMap { headerFields[$0] } }
}

extension DataRequest {
    subscript(name: String) -> String? { HeaderField.Name(name).flatMap { headerFields[$0] } }
}
