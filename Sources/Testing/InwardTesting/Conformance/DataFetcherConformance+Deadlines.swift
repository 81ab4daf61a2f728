import InwardCore
import InwardFetching

extension DataFetcherConformance {
    /// Whoever says so ends as timed out when the deadline of its task passes, and is not sent when it has.
    func deadlineViolations(_ fetcher: any DataFetcher, _ timer: TimerService) async -> [String] {
        guard fetcher.honorsDeadlines else { return [] }
        var violations: [String] = []
        let before = await count(fetcher)
        for request in exchanges.map(\.request) + [counting].compactMap(\.self) {
            violations += await lateness(of: fetcher, request, by: Deadline(in: .zero, on: timer), timer)
        }
        if let counting, let before, let after = await count(fetcher), after != before + 1 {
            violations.append("\(counting) must not be sent after its deadline, and was.")
        }
        for request in [unanswered, unfinished].compactMap(\.self) {
            let deadline = Deadline(in: .milliseconds(50), on: timer)
            violations += await lateness(of: fetcher, request, by: deadline, timer)
        }
        return violations
    }

    private func lateness(
        of fetcher: any DataFetcher,
        _ request: DataRequest,
        by deadline: Deadline,
        _ timer: TimerService
    ) async -> [String] {
        await withTaskGroup { group in
            group.addTask {
                await ending(of: fetcher, request, by: deadline).map { ending in
                    ["\(request) must end as \(FetchError.Reason.timedOut) at its deadline, and \(ending)."]
                } ?? []
            }
            group.addTask {
                // Long behind the deadline, for whoever would wait for ever.
                try? await timer.sleep(for: deadline.remaining + .seconds(10))
                return []
            }
            let first = await group.next() ?? []
            group.cancelAll()
            return await group.reduce(into: first) { $0 += $1 }
        }
    }

    /// How a fetch ends that is told of a deadline and not cancelled by it; `nil` if it ends as it must.
    private func ending(of fetcher: any DataFetcher, _ request: DataRequest, by deadline: Deadline) async -> String? {
        let result = await deadline.carried { () async throws(FetchError) in try await fetcher.fetch(request) }
        switch result {
        case .success: return "was answered"
        case .failure(let error) where error.reason != .timedOut: return "failed as \(error.reason)"
        case .failure: return deadline.hasPassed ? nil : "did before"
        }
    }
}
