import Synchronization

/// Which requests have begun, and how each of them has ended.
final class Ledger: Sendable {
    /// What the ledger says at a moment.
    struct Sums {
        var begun = 0
        var outcomes: [String: Int] = [:]
        /// The longest that a request took.
        var longest = Duration.zero
        /// The most that a request took beyond what it was allowed.
        var worstExcess = Duration.zero

        var ended: Int { outcomes.values.reduce(0, +) }
    }

    private struct Entry {
        let start: Duration
        let end: Duration
    }

    private struct State {
        var sums = Sums()
        var underWay: [Int: Entry] = [:]
    }

    private let state = Mutex(State())

    var sums: Sums { state.withLock(\.sums) }
    var underWay: Int { state.withLock(\.underWay.count) }

    /// Takes a request down.
    ///
    /// - Returns: its number.
    func begin(at now: Duration, allowed limit: Duration) -> Int {
        state.withLock { state in
            state.sums.begun += 1
            state.underWay[state.sums.begun] = Entry(start: now, end: now + limit)
            return state.sums.begun
        }
    }

    /// Takes down how a request ended.
    ///
    /// - Returns: whether it had not ended before.
    func end(_ number: Int, _ outcome: String, at now: Duration) -> Bool {
        state.withLock { state in
            guard let entry = state.underWay.removeValue(forKey: number) else { return false }
            state.sums.outcomes[outcome, default: 0] += 1
            state.sums.longest = max(state.sums.longest, now - entry.start)
            state.sums.worstExcess = max(state.sums.worstExcess, now - entry.end)
            return true
        }
    }

    /// By how much the request under way that is late most is late; zero or less if none is.
    func lateness(at now: Duration) -> Duration {
        state.withLock { state in state.underWay.values.map { now - $0.end }.max() ?? .zero }
    }
}
