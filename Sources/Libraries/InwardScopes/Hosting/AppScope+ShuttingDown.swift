import InwardCore
public import InwardRepositories

extension AppScope {
    /// Whether you can open sessions: the app is open and not shutting down. Use it for a readiness probe.
    ///
    /// ```swift
    /// let readiness = app.isAcceptingWork ? "200 OK" : "503 Service Unavailable"
    /// ```
    public var isAcceptingWork: Bool { scope.isAcceptingWork }

    /// Shuts the app down gracefully: finishes the work in flight, delivers pending writes, and closes everything.
    ///
    /// ```swift
    /// let report = await app.shutDown(within: .seconds(20))
    /// if !report.isComplete { print(report) }
    /// ```
    ///
    /// The app
    ///
    /// 1. rejects new sessions and new requests to its ``SessionRegistry``,
    /// 2. waits for requests in flight in sessions, and for work that uses a session of a registry,
    /// 3. waits until the pending writes of users with an open session are delivered or refused, and
    /// 4. closes the sessions, the newest first, and then its own objects in the reverse order of their creation.
    ///
    /// The limit covers both waits together. If the calling task is cancelled or its deadline passes, the waits end early. Work
    /// that is still in flight after the waits is cancelled when its session closes. Writes that are not delivered stay in the
    /// store. Closing takes additional time, which ``AppScopeConfiguration/closingLimit`` limits for each object.
    ///
    /// An open session can still send requests until it is closed. Do not call this method from within the work of a session,
    /// because it would wait for that work. See <doc:ShutDownGracefully>.
    ///
    /// - Parameter limit: The maximum time to wait for work in flight and pending writes.
    /// - Returns: A report of what was left when the app closed.
    @discardableResult
    public func shutDown(within limit: Duration) async -> ShutdownReport {
        scope.stopAdopting()
        var report = ShutdownReport(app: scope.title)
        if let app = try? scope.objects() {
            let deadline = Deadline(in: limit, on: app.timer)
            await finishWork(by: deadline, on: app.configuration.clock)
            var (pendingCount, failures) = await app.outboxes.deliver(by: deadline)
            for (_, outbox) in app.sharedOutboxes.all {
                do throws(RecordStoreError) {
                    pendingCount += try await (outbox.usedPartitions as [any RepositoryOutbox]).concurrently {
                        partition async throws(RecordStoreError) in try await partition.deliver(by: deadline)
                    }.reduce(0, +)
                } catch {
                    failures.append(error)
                }
            }
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

    /// Waits until no work is in flight, up to a deadline. Includes work that starts during the wait.
    private func finishWork(by deadline: Deadline, on clock: any Clock<Duration>) async {
        while true {
            let inFlight = scope.workInFlight
            let remaining = min(deadline.remaining, Deadline.current?.remaining ?? deadline.remaining)
            guard !inFlight.isEmpty, remaining > .zero, !Task.isCancelled else { return }
            // Unstructured, because waiting for a task cannot be cancelled, and shutting down must not wait longer than the
            // limit. It captures only the work, which ends when its scope closes at the latest.
            let ending = Task { for unit in inFlight { await unit.work.end() } }
            guard await ClosingLimit(remaining, on: clock).value(of: ending) != nil else { return }
        }
    }
}

/// A report of what was left when an app was shut down.
///
/// ```swift
/// let report = await app.shutDown(within: .seconds(20))
/// print(report.isComplete ? "Everything is done." : "\(report)")
/// ```
public struct ShutdownReport: Sendable, CustomStringConvertible {
    private let app: String
    /// The number of requests and other pieces of work that were cancelled because the limit passed. The keys are the titles of
    /// their scopes, such as `session ada`.
    public internal(set) var unfinished: [String: Int] = [:]
    /// The number of pending writes in the store that belong to users who had an open session. `nil` if the store could not be
    /// read, or if the app was already closed.
    public internal(set) var pendingWriteCount: Int?
    /// The errors that prevented counting the pending writes.
    public internal(set) var storeFailures: [RecordStoreError] = []
    /// The failures that occurred while scopes were closed.
    public internal(set) var closeFailures: [ScopeCloseError.Failure] = []

    init(app: String) {
        self.app = app
    }

    /// Whether all work ended in time, no writes are pending, and everything was closed without a failure.
    public var isComplete: Bool {
        unfinished.isEmpty && pendingWriteCount == 0 && storeFailures.isEmpty && closeFailures.isEmpty
    }

    /// The report in sentences.
    public var description: String {
        let work = unfinished.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
        let pending =
            switch pendingWriteCount {
            case 0, nil: String?.none
            case 1: "1 pending write stays in the store for the next start"
            case .some(let count): "\(count) pending writes stay in the store for the next start"
            }
        let wasClosed = pendingWriteCount == nil && storeFailures.isEmpty
        let sentences = [
            wasClosed ? "\(app) was already closed, so its pending writes were not counted" : "\(app) is shut down",
            work.isEmpty ? nil : "Work was cancelled: \(work.joined(separator: ", "))",
            pending,
        ]
        let ended = (sentences.compactMap(\.self) + closeFailures.map(\.description)).map { "\($0)." }
        return (ended + storeFailures.prefix(1).map { "The pending writes could not be counted: \($0)" })
            .joined(separator: " ")
    }
}
