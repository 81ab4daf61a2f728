package import InwardRepositories
import Synchronization

/// A history of concurrent operations on one record of a shared store, with their results.
///
/// A client performs one operation after the other. At the beginning, there is no record.
package struct RecordHistory: Hashable, Sendable {
    /// How long a lease lasts: it has ended at once, or does not end during the history.
    package enum LeaseDuration: Hashable, Sendable {
        case zero
        case hour
    }

    /// A record that was read. Each keep of a history keeps a different value.
    package struct Reading: Hashable, Sendable {
        package let value: Int
        package let version: UInt64

        package init(_ value: Int, version: UInt64) {
            self.value = value
            self.version = version
        }
    }

    /// The condition of a keep.
    package enum Condition: Hashable, Sendable {
        case isAbsent
        case hasVersion(UInt64)
        case isLeased(token: UInt64)
    }

    /// An operation with its result.
    package enum Operation: Hashable, Sendable {
        case read(Reading?)
        case keep(Int, if: Condition? = nil, isMade: Bool = true)
        case remove
        case lease(LeaseDuration, token: UInt64, Reading)
        case leaseNothing
        case extend(token: UInt64, LeaseDuration, isExtended: Bool = true)
    }

    /// An operation with its place in the order of all beginnings and ends.
    package struct Entry: Hashable, Sendable {
        package let client: Int
        package let operation: Operation
        /// The place of the operation's beginning.
        package let invocation: Int
        /// The place of its end, or `nil` if it has not ended. Then it can have taken effect already, with the result it later had.
        package let response: Int?

        package init(client: Int, _ operation: Operation, from invocation: Int, to response: Int?) {
            self.client = client
            self.operation = operation
            self.invocation = invocation
            self.response = response
        }
    }

    /// The operations, in the order of their beginnings.
    package let entries: [Entry]

    package init(_ entries: [Entry]) {
        self.entries = entries.sorted { $0.invocation < $1.invocation }
    }

    /// Returns the beginning of the history up to a place in the order.
    func prefix(through place: Int) -> RecordHistory {
        RecordHistory(
            entries.filter { $0.invocation <= place }.map { entry in
                Entry(
                    client: entry.client,
                    entry.operation,
                    from: entry.invocation,
                    to: entry.response.flatMap { $0 <= place ? $0 : nil }
                )
            }
        )
    }
}

extension RecordHistory: CustomStringConvertible {
    /// The operations, such as `client 1 removes (3 to 6)`.
    package var description: String {
        entries.map { entry in
            let end = entry.response.map(String.init) ?? "…"
            return "client \(entry.client) \(entry.operation) (\(entry.invocation) to \(end))"
        }
        .joined(separator: ", ")
    }
}

extension RecordHistory.Operation: CustomStringConvertible {
    /// The operation as a predicate.
    package var description: String {
        switch self {
        case .read(nil): "reads nothing"
        case .read(let reading?): "reads \(reading.value) of version \(reading.version)"
        case .keep(let value, let condition, let isMade):
            (isMade ? "keeps" : "fails to keep") + " \(value)" + (condition.map { " if \($0)" } ?? "")
        case .remove: "removes"
        case .lease(let duration, let token, let reading):
            "leases \(reading.value) of version \(reading.version) with token \(token) for one \(duration)"
        case .leaseNothing: "leases nothing"
        case .extend(let token, let duration, let isExtended):
            (isExtended ? "extends" : "fails to extend") + " token \(token) for one \(duration)"
        }
    }
}

/// Records the operations of concurrent clients in the order in which they begin and end.
package final class RecordHistoryRecorder: Sendable {
    private let place = Atomic(0)
    private let entries = Mutex<[RecordHistory.Entry]>([])

    package init() {}

    /// The history of all operations that have ended.
    package var history: RecordHistory { RecordHistory(entries.withLock(\.self)) }

    /// Performs an operation, which returns itself with its result, and records it. Operations that fail are not recorded.
    package func record(
        by client: Int,
        _ operation: () async throws(RecordStoreError) -> RecordHistory.Operation
    ) async throws(RecordStoreError) {
        let invocation = nextPlace()
        let result = try await operation()
        let entry = RecordHistory.Entry(client: client, result, from: invocation, to: nextPlace())
        entries.withLock { $0.append(entry) }
    }

    private func nextPlace() -> Int { place.add(1, ordering: .sequentiallyConsistent).newValue }
}
