import InwardCore
import Synchronization

/// A race between two attempts at one request, won by the first to succeed.
struct HedgingRace: Sendable {
    /// The progress of the first attempt, shared with the task that awaits it.
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

    /// Begins the first attempt, and the second one if the first has not ended in time.
    ///
    /// - Parameters:
    ///   - moment: The time at which the first attempt is late, by the timer service.
    ///   - timer: The source of time.
    ///   - admit: Returns whether to begin the second attempt, which it receives.
    /// - Returns: The outcome of the first attempt to succeed, or that of the original attempt if none does.
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

    /// Waits for the end of the first attempt, up to a point in time.
    private func isLate(_ progress: Progress, at moment: Duration, on timer: TimerService) async -> Bool {
        // Responses from memory have usually arrived by now and need no wait.
        guard !progress.hasEnded.load(ordering: .acquiring) else { return false }
        let alarm = timer.schedule(at: moment) { progress.event.fulfill(.isLate) }
        // No deadline here: it ends the attempt, which ends the wait.
        let outcome = await progress.event.value(until: nil)
        timer.cancel(alarm)
        guard case .fulfilled(.isLate) = outcome, !Task.isCancelled else { return false }
        return !progress.hasEnded.load(ordering: .acquiring)
    }

    /// Returns the outcome of the attempts under way. The losing attempt is cancelled, and the group awaits it.
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
            // Starts on the current thread, which avoids a thread hop unless the attempt has to wait.
            group.addImmediateTask(operation: operation)
        } else {
            group.addTask(operation: operation)
        }
    }
}

extension Result<DataResponse, FetchError> {
    /// Whether the upstream answered without a server error, so that another attempt is pointless.
    var isServed: Bool {
        if case .success(let response) = self { response.status.code < 500 } else { false }
    }
}
