import InwardCore
import InwardFetching

extension DataFetcherConformance {
    /// A cancelled task gets no answer, whether it was cancelled before, while it waited, or in the middle of the answer.
    func cancellationViolations(_ fetcher: any DataFetcher, _ timer: TimerService) async -> [String] {
        var violations: [String] = []
        for exchange in exchanges {
            // Where the source answers, no more than a cancellation beforehand has one outcome alone.
            violations += await cancellationViolations(fetcher, exchange.request, delays: 0...0)
        }
        for request in [unanswered, unfinished].compactMap(\.self) {
            violations += await cancellationViolations(fetcher, request, delays: 0...20)
            violations += await lateCancellationViolations(fetcher, request, timer)
        }
        return violations
    }

    private func cancellationViolations(
        _ fetcher: any DataFetcher,
        _ request: DataRequest,
        delays: ClosedRange<Int>
    ) async -> [String] {
        var reasons: Set<FetchError.Reason?> = []
        for delay in delays {
            await withTaskGroup { group in
                group.addTask {
                    // The first of them waits until it is cancelled.
                    if delay == 0 { while !Task.isCancelled { await Task.yield() } }
                    return await reason(of: fetcher, request)
                }
                for _ in 0..<delay * delay { await Task.yield() }
                group.cancelAll()
                for await reason in group { reasons.insert(reason) }
            }
        }
        return violations(request, reasons)
    }

    /// By the time of the cancellation the part of the answer that comes has come.
    private func lateCancellationViolations(
        _ fetcher: any DataFetcher,
        _ request: DataRequest,
        _ timer: TimerService
    ) async -> [String] {
        await withTaskGroup { group in
            group.addTask { await reason(of: fetcher, request) }
            try? await timer.sleep(for: .milliseconds(50))
            group.cancelAll()
            return violations(request, await group.reduce(into: []) { $0.insert($1) })
        }
    }

    private func violations(_ request: DataRequest, _ reasons: Set<FetchError.Reason?>) -> [String] {
        reasons.subtracting([.cancelled]).map { reason in
            let ending = reason.map { "failed as \($0)" } ?? "was answered"
            return "\(request) must end as cancelled when its task is, and \(ending)."
        }.sorted()
    }

    private func reason(of fetcher: any DataFetcher, _ request: DataRequest) async -> FetchError.Reason? {
        do {
            _ = try await fetcher.fetch(request)
            return nil
        } catch {
            return error.reason
        }
    }
}
