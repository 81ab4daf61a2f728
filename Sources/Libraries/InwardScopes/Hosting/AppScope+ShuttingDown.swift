import InwardCore
public import InwardRepositories

extension AppScope {
    /// Whether the app opens sessions: it is open and not shutting down. Use it for a readiness probe.
    ///
    ///     router.get("ready") { _, _ in app.isAcceptingWork ? HTTPResponse.Status.ok : .serviceUnavailable }
    public var isAcceptingWork: Bool { scope.isAcceptingWork }

    /// Shuts the app down gracefully: finishes what is in flight, delivers pending writes, and closes everything.
    ///
    ///     let report = await app.shutDown(within: .seconds(25))
    ///     if !report.isComplete { logger.warning("\(report)") }
    ///
    /// In this order:
    ///
    /// - The app opens no more sessions, and its ``SessionRegistry`` accepts no more requests. Those that have begun go on.
    /// - It waits for the requests that are in flight in sessions, and for the work that uses a session of a registry.
    /// - It waits until the pending writes of the users with an open session are delivered or refused.
    /// - It closes the sessions, the newest first, and then its own objects in the reverse order of their creation.
    ///
    /// The limit is for both waits together. What is in flight when it passes is cancelled as the scopes close, which has the limits
    /// of ``AppScopeConfiguration/closingLimit``. Writes that are not delivered stay in the store. Cancelling the calling task, and its
    /// deadline, end the waits early; the app is closed all the same. Sessions that a caller has opened itself answer until they are
    /// closed. Do not call this method from within the work of a session: it would wait for that work.
    ///
    /// - Parameter limit: How long to wait at most for work in flight and pending writes.
    /// - Returns: what was left when the app was closed.
    @discardableResult
    public func shutDown(within limit: Duration) async -> ShutdownReport {
        scope.stopAdopting()
        var report = ShutdownReport(app: scope.title)
        if let app = try? scope.objects() {
            let deadline = Deadline(in: limit, on: app.timer)
            await finishWork(by: deadline, on: app.configuration.clock)
            let (pendingCount, failures) = await app.outboxes.deliver(by: deadline)
            report.unfinished = Dictionary(scope.workInFlight.map { ($0.scope, 1) }, uniquingKeysWith: +)
            report.pendingWriteCount = failures.isEmpty ? pendingCount : nil
            report.storeFailures = failures
        }
        do throws(ScopeCloseError) {
            try await scope.close()
        } catch {
            report.closeFailures = error.failures
        }
        return report
    }

    /// Waits until no work is in flight, up to a deadline. Work that has begun may begin more.
    private func finishWork(by deadline: Deadline, on clock: any Clock<Duration>) async {
        while true {
            let inFlight = scope.workInFlight
            let remaining = min(deadline.remaining, Deadline.current?.remaining ?? deadline.remaining)
            guard !inFlight.isEmpty, remaining > .zero, !Task.isCancelled else { return }
            // Unstructured, because shutting down must not wait longer than the limit, and the end of a task cannot be waited for
            // otherwise. It captures only the work, which ends when its scope is closed at the latest.
            let ending = Task { for unit in inFlight { await unit.work.end() } }
            guard await ClosingLimit(remaining, on: clock).value(of: ending) != nil else { return }
        }
    }
}

/// What was left when an app was shut down.
public struct ShutdownReport: Sendable, CustomStringConvertible {
    private let app: String
    /// The number of pieces of work that were in flight when the limit passed, by the title of their scope, such as `session ada`.
    /// They were cancelled.
    public internal(set) var unfinished: [String: Int] = [:]
    /// The number of writes in the store that are still pending, of the users who had an open session; `nil` if that is not known,
    /// because the store could not be read or the app was closed already.
    public internal(set) var pendingWriteCount: Int?
    /// Why the pending writes could not be counted.
    public internal(set) var storeFailures: [RecordStoreError] = []
    /// The failures while scopes were closed.
    public internal(set) var closeFailures: [ScopeCloseError.Failure] = []

    init(app: String) {
        self.app = app
    }

    /// Whether all work ended in time, no write is pending, and everything was closed without a failure.
    public var isComplete: Bool {
        unfinished.isEmpty && pendingWriteCount == 0 && storeFailures.isEmpty && closeFailures.isEmpty
    }

    /// What was left, in sentences.
    public var description: String {
        let work = unfinished.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
        let sentences = [
            "\(app) is shut down",
            work.isEmpty ? nil : "Work was cancelled: \(work.joined(separator: ", "))",
            pendingWriteCount.flatMap { $0 == 0 ? nil : "\($0) pending writes stay in the store for the next start" },
        ]
        let ended = (sentences.compactMap(\.self) + closeFailures.map(\.description)).map { "\($0)." }
        return (ended + storeFailures.prefix(1).map { "The pending writes could not be counted: \($0)" })
            .joined(separator: " ")
    }
}
