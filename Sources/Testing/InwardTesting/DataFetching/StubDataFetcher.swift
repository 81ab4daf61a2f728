public import InwardFetching
import Synchronization

/// A data fetcher that answers as it is told to, at once.
public struct StubDataFetcher: DataFetcher {
    private let answer: @Sendable (DataRequest) async throws(FetchError) -> DataResponse

    /// Makes a fetcher that answers each request by a function.
    public init(_ answer: @escaping @Sendable (DataRequest) async throws(FetchError) -> DataResponse) {
        self.answer = answer
    }

    /// Makes a fetcher that gives every request the same answer.
    public init(_ response: DataResponse) {
        self.init { _ throws(FetchError) in response }
    }

    /// Makes a fetcher that fails every request for the same reason.
    public init(failing reason: FetchError.Reason, explanation: String = "was told to fail") {
        self.init { request throws(FetchError) in
            throw FetchError(reason, request: request, explanation: explanation)
        }
    }

    /// The answer that the fetcher was told to give.
    ///
    /// - Throws: the `FetchError` that it was told to throw.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await answer(request)
    }
}

/// A data fetcher that goes through a script: the first request gets the first step, and so on, whatever is asked.
///
/// A request behind the last step fails, with a reason that no retry helps against.
public final class ScriptedDataFetcher: DataFetcher {
    /// What becomes of one request.
    public enum Step: Hashable, Sendable {
        /// It gets this answer.
        case answer(DataResponse)
        /// It fails for this reason.
        case failure(FetchError.Reason)
    }

    private let remaining: Mutex<ArraySlice<Step>>

    /// Makes a fetcher that goes through these steps.
    public init(_ steps: [Step]) {
        remaining = Mutex(steps[...])
    }

    /// How many steps are still to come.
    public var remainingSteps: Int { remaining.withLock(\.count) }

    /// The answer of the next step.
    ///
    /// - Throws: a `FetchError` if that is what the next step says, or if there is none.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        switch remaining.withLock({ $0.popFirst() }) {
        case .answer(let response): return response
        case .failure(let reason): throw FetchError(reason, request: request, explanation: "failed as the script says")
        case nil: throw FetchError(.invalidRequest, request: request, explanation: "is not in the script")
        }
    }
}

/// A data fetcher that remembers what it was asked, and has another answer.
public final class RecordingDataFetcher: DataFetcher {
    private let recorded = Mutex<[DataRequest]>([])
    private let base: any DataFetcher

    /// Makes a fetcher that has another answer.
    public init(_ base: any DataFetcher) {
        self.base = base
    }

    /// What was asked so far, in the order it was asked.
    public var requests: [DataRequest] { recorded.withLock(\.self) }

    /// Whether the other does.
    public var honorsDeadlines: Bool { base.honorsDeadlines }

    /// The other's answer.
    ///
    /// - Throws: what the other throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        recorded.withLock { $0.append(request) }
        return try await base.fetch(request)
    }
}
