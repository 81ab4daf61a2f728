/// The outcomes of recent requests: a value of constant size, without a clock.
struct CircuitWindow: Hashable {
    // Both are stored, one of them empty, because an enum payload would be copied for each request.
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

    /// The counts in the window, as of the last request.
    var counts: CallCounts { isTimed ? buckets.counts : ring.counts }

    /// Records a request that just ended. A window of calls ignores the time; a time before an earlier one counts as the
    /// earlier one.
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

/// Counts of requests by outcome.
struct CallCounts: Hashable {
    private(set) var calls = 0
    private(set) var failures = 0
    private(set) var slow = 0

    /// The failure rate.
    var failureRate: Double { Double(failures) / Double(calls) }
    /// The rate of slow requests.
    var slowRate: Double { Double(slow) / Double(calls) }

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

/// A ring buffer of the most recent outcomes, with two bits for each.
struct CallRing: Hashable {
    private static let callsOfAWord = 32

    private let capacity: Int
    private var words: [UInt64]
    private var next = 0
    private(set) var counts = CallCounts()

    init(capacity: Int) {
        self.capacity = capacity
        words = Array(repeating: 0, count: (capacity + Self.callsOfAWord - 1) / Self.callsOfAWord)
    }

    /// Records a request, replacing the oldest if the buffer is full.
    ///
    /// - Complexity: O(1).
    mutating func record(_ outcome: CallOutcome) {
        let word = next / Self.callsOfAWord
        let shift = UInt64(next % Self.callsOfAWord * 2)
        if counts.calls == capacity {
            let oldest = words[word] >> shift
            counts.remove(CallOutcome(isFailure: oldest & 1 != 0, isSlow: oldest & 2 != 0))
        }
        let bits: UInt64 = (outcome.isFailure ? 1 : 0) | (outcome.isSlow ? 2 : 0)
        words[word] = words[word] & ~(3 << shift) | bits << shift
        counts.add(outcome)
        next += 1
        if next == capacity { next = 0 }
    }
}

/// Counts of outcomes within a recent time, in ten buckets.
struct CallBuckets: Hashable {
    private static let bucketCount = 10

    private let width: Duration
    private var buckets = Array(repeating: CallCounts(), count: bucketCount)
    private var newest = 0
    /// The end of the newest bucket.
    private var end = Duration.zero
    private(set) var counts = CallCounts()

    init(duration: Duration) {
        width = duration / Self.bucketCount
    }

    /// Records a request and drops buckets that have expired.
    ///
    /// - Complexity: O(1).
    mutating func record(_ outcome: CallOutcome, at now: Duration) {
        if end <= now { moveOn(to: now) }
        buckets[newest].add(outcome)
        counts.add(outcome)
    }

    private mutating func moveOn(to now: Duration) {
        var steps = 0
        while end <= now, steps < Self.bucketCount {
            newest = (newest + 1) % Self.bucketCount
            counts.remove(buckets[newest])
            buckets[newest] = CallCounts()
            end += width
            steps += 1
        }
        // All buckets have expired, so skip the time between then and now.
        if end <= now { end = now + width }
    }
}
