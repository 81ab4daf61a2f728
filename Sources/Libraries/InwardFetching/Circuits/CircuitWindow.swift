/// How the last requests ended: a value without a clock, whose size does not depend on how many there are.
struct CircuitWindow: Hashable {
    // Both are there, and one of them empty, because a payload of an enum would be copied for each request.
    private var ring: CallRing
    private var buckets: CallBuckets
    private let isTimed: Bool

    init(_ window: CircuitBreakerPolicy.Window) {
        isTimed = window.isTimed
        switch window {
        case .calls(let count):
            ring = CallRing(capacity: count)
            buckets = CallBuckets(duration: .zero)
        case .time(let duration):
            ring = CallRing(capacity: 0)
            buckets = CallBuckets(duration: duration)
        }
    }

    /// What is in the window, as of the last request.
    var counts: CallCounts { isTimed ? buckets.counts : ring.counts }

    /// Counts a request that has ended now. The time does not matter to a window of calls, and one that lies before an earlier
    /// one counts as that.
    ///
    /// - Complexity: O(1).
    mutating func record(_ outcome: CallOutcome, at now: Duration) {
        if isTimed {
            buckets.record(outcome, at: now)
        } else {
            ring.record(outcome)
        }
    }
}
