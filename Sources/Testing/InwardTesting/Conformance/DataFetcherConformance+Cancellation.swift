import InwardCore
import InwardFetching

extension DataFetcherConformance {
    /// A cancelled task gets no answer, whether it is cancelled before the request, while it waits, or during the response.
    func cancellationViolations(_ fetcher: any DataFetcher, _ timer: TimerService) async -> [String] {
        var violations: [String] = []
        for exchange in exchanges {
            // If the source answers, only a cancellation before the request has a single valid outcome.
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

    /// Cancels so late that the available part of the response has already arrived.
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

extension DataFetcherConformance {
    /// A fetcher that honors deadlines times out when its task's deadline passes, and sends nothing after the deadline.
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
                // Long after the deadline, in case the fetcher would wait forever.
                try? await timer.sleep(for: deadline.remaining + .seconds(10))
                return []
            }
            let first = await group.next() ?? []
            group.cancelAll()
            return await group.reduce(into: first) { $0 += $1 }
        }
    }

    /// Returns what is wrong with a fetch that gets a deadline but is not cancelled by it, or `nil` if it ends correctly.
    private func ending(of fetcher: any DataFetcher, _ request: DataRequest, by deadline: Deadline) async -> String? {
        let result = await deadline.carried { () async throws(FetchError) in try await fetcher.fetch(request) }
        switch result {
        case .success: return "was answered"
        case .failure(let error) where error.reason != .timedOut: return "failed as \(error.reason)"
        case .failure: return deadline.hasPassed ? nil : "did before"
        }
    }
}
