import Synchronization

/// Records which requests have begun, and how each one ended.
final class Ledger: Sendable {
    /// The sums at a moment.
    struct Sums {
        var begun = 0
        var outcomes: [String: Int] = [:]
        /// The longest duration of a request.
        var longest = Duration.zero
        /// The longest time by which a request exceeded its limit.
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

    /// Records the beginning of a request, and returns the number of the request.
    func begin(at now: Duration, allowed limit: Duration) -> Int {
        state.withLock { state in
            state.sums.begun += 1
            state.underWay[state.sums.begun] = Entry(start: now, end: now + limit)
            return state.sums.begun
        }
    }

    /// Records the end of a request, and returns whether it had not ended before.
    func end(_ number: Int, _ outcome: String, at now: Duration) -> Bool {
        state.withLock { state in
            guard let entry = state.underWay.removeValue(forKey: number) else { return false }
            state.sums.outcomes[outcome, default: 0] += 1
            state.sums.longest = max(state.sums.longest, now - entry.start)
            state.sums.worstExcess = max(state.sums.worstExcess, now - entry.end)
            return true
        }
    }

    /// The longest time by which a request in flight is late, or zero or less if none is late.
    func lateness(at now: Duration) -> Duration {
        state.withLock { state in state.underWay.values.map { now - $0.end }.max() ?? .zero }
    }
}
