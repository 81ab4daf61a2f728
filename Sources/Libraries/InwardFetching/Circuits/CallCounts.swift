/// How many requests ended, and how.
struct CallCounts: Hashable {
    private(set) var calls = 0
    private(set) var failures = 0
    private(set) var slow = 0

    /// The share of failures.
    var failureShare: Double { Double(failures) / Double(calls) }
    /// The share of slow requests.
    var slowShare: Double { Double(slow) / Double(calls) }

    mutating func add(_ outcome: CallOutcome) {
        calls += 1
        if outcome.isFailure { failures += 1 }
        if outcome.isSlow { slow += 1 }
    }

    mutating func remove(_ outcome: CallOutcome) {
        calls -= 1
        if outcome.isFailure { failures -= 1 }
        if outcome.isSlow { slow -= 1 }
    }

    mutating func remove(_ counts: CallCounts) {
        calls -= counts.calls
        failures -= counts.failures
        slow -= counts.slow
    }
}
