public import InwardFetching
import Synchronization

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
