import InwardCore
import Synchronization

/// Two attempts at one request, of which the first to succeed counts.
struct HedgingRace: Sendable {
    /// What the first attempt and whoever waits for it tell each other.
    private final class Progress: Sendable {
        enum Event {
            case ended
            case isLate
        }

        let event = Promise<Event>()
        let hasEnded = Atomic(false)
    }

    private struct Attempt: Sendable {
        let isFirst: Bool
        let result: Result<DataResponse, FetchError>
    }

    private let base: any DataFetcher
    private let request: DataRequest

    init(_ base: any DataFetcher, _ request: DataRequest) {
        self.base = base
        self.request = request
    }

    /// Makes the first attempt, and the second one if that has not ended by a moment.
    ///
    /// - Parameters:
    ///   - moment: When the first attempt is late, as the timer service tells the time.
    ///   - timer: What tells that the moment has come.
    ///   - admit: Is asked whether the second attempt, which it is given, is to be made.
    /// - Returns: what came of the first attempt to succeed, or of the first one at all.
    func outcome(
        until moment: Duration,
        on timer: TimerService,
        admit: (DataRequest) -> Bool
    ) async -> Result<DataResponse, FetchError> {
        await withTaskGroup(of: Attempt.self) { group in
            let progress = Progress()
            begin(in: &group) { [base, request] in
                let result = await Result(awaiting: { () async throws(FetchError) in try await base.fetch(request) })
                progress.hasEnded.store(true, ordering: .releasing)
                progress.event.fulfill(.ended)
                return Attempt(isFirst: true, result: result)
            }
            guard await isLate(progress, at: moment, on: timer) else { return await result(of: &group) }
            var second = request
            second.attempt += 1
            guard admit(second) else { return await result(of: &group) }
            begin(in: &group) { [base, second] in
                let result = await Result(awaiting: { () async throws(FetchError) in try await base.fetch(second) })
                return Attempt(isFirst: false, result: result)
            }
            return await result(of: &group)
        }
    }

    /// Waits for the end of the first attempt, and no longer than until a moment.
    private func isLate(_ progress: Progress, at moment: Duration, on timer: TimerService) async -> Bool {
        // Most of what is answered from memory is done by now, and nobody has to wait for it.
        guard !progress.hasEnded.load(ordering: .acquiring) else { return false }
        let alarm = timer.schedule(at: moment) { progress.event.fulfill(.isLate) }
        // A deadline ends the attempt, and so the wait for it.
        let outcome = await progress.event.value(until: nil)
        timer.cancel(alarm)
        guard case .fulfilled(.isLate) = outcome, !Task.isCancelled else { return false }
        return !progress.hasEnded.load(ordering: .acquiring)
    }

    /// What came of the attempts that are under way. Who is not needed is cancelled, and waited for by the group.
    private func result(of group: inout TaskGroup<Attempt>) async -> Result<DataResponse, FetchError> {
        var failed: Attempt?
        while let attempt = await group.next() {
            if attempt.result.isServed {
                group.cancelAll()
                return attempt.result
            }
            if attempt.isFirst || failed == nil { failed = attempt }
        }
        return failed?.result
            ?? .failure(
                FetchError(.cancelled, request: request, explanation: "was not attempted", wasSent: false)
            )
    }

    private func begin(
        in group: inout TaskGroup<Attempt>,
        _ operation: @escaping @Sendable @concurrent () async -> Attempt
    ) {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            // Begins here and now, so that nothing is handed to another thread unless it has to wait.
            group.addImmediateTask(operation: operation)
        } else {
            group.addTask(operation: operation)
        }
    }
}

extension Result<DataResponse, FetchError> {
    /// Whether the source did its work, so that there is nothing to gain by another attempt.
    var isServed: Bool {
        if case .success(let response) = self { response.status.code < 500 } else { false }
    }
}
