import InwardCore
import InwardFetching

/// A fetcher with a latency that honors deadlines.
struct HonoringDataFetcher: DataFetcher {
    let timer: TimerService
    var latency = Duration.zero
    let answer: @Sendable (DataRequest) -> DataResponse

    var honorsDeadlines: Bool { true }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard !Task.isCancelled else { throw FetchError(.cancelled, request: request, explanation: "was cancelled") }
        if let deadline = Deadline.current, deadline.remaining <= latency {
            throw FetchError(.timedOut, request: request, explanation: "had no time")
        }
        do {
            try await timer.sleep(for: latency)
        } catch {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        return answer(request)
    }
}
