public import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that immediately returns a prescribed result.
///
/// ```swift
/// let healthy = StubDataFetcher(DataResponse(status: .ok))
/// let failing = StubDataFetcher(failing: .unreachable)
/// let echoing = StubDataFetcher { request throws(FetchError) in DataResponse(body: request.body ?? Data()) }
/// ```
public struct StubDataFetcher: DataFetcher {
    private let answer: @Sendable (DataRequest) async throws(FetchError) -> DataResponse

    /// Creates a fetcher that answers each request with a closure.
    public init(_ answer: @escaping @Sendable (DataRequest) async throws(FetchError) -> DataResponse) {
        self.answer = answer
    }

    /// Creates a fetcher that gives every request the same response.
    public init(_ response: DataResponse) {
        self.init { _ throws(FetchError) in response }
    }

    /// Creates a fetcher that fails every request for the same reason.
    public init(failing reason: FetchError.Reason, explanation: String = "was told to fail") {
        self.init { request throws(FetchError) in
            throw FetchError(reason, request: request, explanation: explanation)
        }
    }

    /// Returns the prescribed response.
    ///
    /// - Throws: The prescribed `FetchError`.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await answer(request)
    }
}

/// A data fetcher that follows a script: each request gets the next step, whatever its content.
///
/// ```swift
/// let script = ScriptedDataFetcher([.failure(.interrupted), .status(.ok)])
/// let fetcher = script.retrying(RetryPolicy(baseDelay: .zero))
/// #expect(try await fetcher.fetch(DataRequest(url: CommentClient.baseURL)).status == .ok)
/// ```
///
/// A request after the last step fails with `FetchError.Reason.invalidRequest`, which is not retried.
public final class ScriptedDataFetcher: DataFetcher {
    /// The result of one request.
    public typealias Step = FetchFixture

    private let remaining: Mutex<ArraySlice<Step>>

    /// Creates a fetcher that follows the given steps.
    public init(_ steps: [Step]) {
        remaining = Mutex(steps[...])
    }

    /// The number of remaining steps.
    public var remainingSteps: Int { remaining.withLock(\.count) }

    /// Returns the response of the next step.
    ///
    /// - Throws: A `FetchError` if the next step is a failure, or if no steps remain.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard let step = remaining.withLock({ $0.popFirst() }) else {
            throw FetchError(.invalidRequest, request: request, explanation: "came after the last step of the script")
        }
        return try step.response(to: request, failing: "failed as the script says")
    }
}

/// A data fetcher that records its requests and passes them to another fetcher.
///
/// ```swift
/// let upstream = RecordingDataFetcher(StubDataFetcher(DataResponse()))
/// _ = try await upstream.fetch(DataRequest(url: CommentClient.baseURL))
/// #expect(upstream.requests.count == 1)
/// ```
public final class RecordingDataFetcher: AddressGuardable {
    /// The requests of a fetcher, and of the guarded fetchers that were made of it.
    private final class Log: Sendable {
        let requests = Mutex<[DataRequest]>([])
    }

    private let log: Log
    private let base: any DataFetcher

    private init(_ base: any DataFetcher, log: Log) {
        self.base = base
        self.log = log
    }

    /// Creates a fetcher that passes requests to another one.
    public convenience init(_ base: any DataFetcher) {
        self.init(base, log: Log())
    }

    /// Returns a fetcher that records in the same list, and whose base is guarded.
    ///
    /// - Throws: An `AddressPolicyError` if the base cannot apply the policy.
    public func guarded(by policy: AddressPolicy) throws(AddressPolicyError) -> any DataFetcher {
        RecordingDataFetcher(try base.guarding(with: policy), log: log)
    }

    /// The requests so far, in order.
    public var requests: [DataRequest] { log.requests.withLock(\.self) }

    /// Whether the base honors deadlines.
    public var honorsDeadlines: Bool { base.honorsDeadlines }

    /// Records the request and returns the base's response.
    ///
    /// - Throws: The error of the base.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        log.requests.withLock { $0.append(request) }
        return try await base.fetch(request)
    }
}

/// A prescribed answer to a request, for ``RoutedDataFetcher`` and ``ScriptedDataFetcher``.
///
/// ```swift
/// let comment = Comment(id: 7, postID: 1, body: "Well said.")
/// let found: FetchFixture = .json(#"{"id": 7, "postID": 1, "body": "Well said."}"#)
/// let encoded: FetchFixture = try .encoding(comment, headerFields: [HeaderField(.etag, "\"1\"")])
/// let missing: FetchFixture = .status(.notFound)
/// let lost: FetchFixture = .failure(.timedOut)
/// ```
public enum FetchFixture: Hashable, Sendable {
    /// The request gets this response.
    case answer(DataResponse)
    /// The request fails for this reason.
    case failure(FetchError.Reason)

    /// Returns a response with JSON text as its body. Its media type is `application/json` unless the header fields name
    /// another.
    public static func json(
        _ text: String,
        status: DataResponse.Status = .ok,
        headerFields: HeaderFields = []
    ) -> Self {
        json(Data(text.utf8), status, headerFields)
    }

    /// Returns a response with a value as its body, encoded as JSON. Its media type is `application/json` unless the header
    /// fields name another.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: The encoder, which determines the format of dates and keys.
    ///   - status: The status of the response.
    ///   - headerFields: The header fields of the response.
    /// - Returns: The response.
    /// - Throws: The error of the encoder if the value cannot be encoded.
    public static func encoding(
        _ value: some Encodable,
        by encoder: JSONEncoder = JSONEncoder(),
        status: DataResponse.Status = .ok,
        headerFields: HeaderFields = []
    ) throws -> Self {
        json(try encoder.encode(value), status, headerFields)
    }

    /// Returns a response with a status and no body.
    public static func status(_ status: DataResponse.Status, headerFields: HeaderFields = []) -> Self {
        .answer(DataResponse(status: status, headerFields: headerFields))
    }

    private static func json(_ body: Data, _ status: DataResponse.Status, _ headerFields: HeaderFields) -> Self {
        var response = DataResponse(status: status, headerFields: headerFields, body: body)
        if response.headerFields[.contentType] == nil { response.headerFields[.contentType] = "application/json" }
        return .answer(response)
    }

    /// Returns the response to a request.
    ///
    /// - Throws: A `FetchError` if this is a failure. Its explanation completes a sentence that begins with the request.
    func response(to request: DataRequest, failing explanation: String) throws(FetchError) -> DataResponse {
        switch self {
        case .answer(let response): return response
        case .failure(let reason): throw FetchError(reason, request: request, explanation: explanation)
        }
    }
}
