import CoreMetrics
import Foundation
import InwardRepositories
import InwardScopes

/// The gauges of the outboxes of all users, with what the store has when somebody asks for the metrics.
///
/// The instances of the service share the outboxes, and none of them knows what the others accept and deliver. So each instance reads the
/// store, and all of them show the same numbers. `TelemetryRepositoryObserver` has gauges with the same names, but sets them only for
/// outboxes that belong to one process.
struct OutboxGauges: Sendable {
    private let pending: Meter
    private let deadLetters: Meter
    private let oldestAge: Meter

    init(_ factory: any MetricsFactory) {
        pending = Meter(label: "inward.outbox.pending", factory: factory)
        deadLetters = Meter(label: "inward.outbox.dead_letters", factory: factory)
        oldestAge = Meter(label: "inward.outbox.oldest.age", factory: factory)
    }

    /// Sets the gauges: the numbers of pending and of refused writes, and the age of the oldest pending one in seconds.
    ///
    /// - Parameters:
    ///   - outboxes: The outboxes; `nil` if the store cannot be read. Numbers from before could hide that writes wait.
    ///   - date: The current date.
    func show(_ outboxes: [UserOutbox]?, at date: Date) {
        guard let statuses = outboxes?.map(\.status) else {
            for gauge in [pending, deadLetters, oldestAge] { gauge.set(Double.nan) }
            return
        }
        pending.set(statuses.reduce(0) { $0 + $1.pendingCount })
        deadLetters.set(statuses.reduce(0) { $0 + $1.deadLetterCount })
        let oldest = statuses.compactMap(\.oldestAcceptedAt).min()
        oldestAge.set(oldest.map { max(0, date.timeIntervalSince($0)) } ?? 0)
    }
}
