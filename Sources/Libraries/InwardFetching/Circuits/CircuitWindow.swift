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

/// How many requests ended, and how.
struct CallCounts: Hashable {
    private(set) var calls = 0
    private(set) var failures = 0
    private(set) var slow = 0

    /// The share of failures.
    var failureRateThreshold: Double { Double(failures) / Double(calls) }
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

/// How the last so many requests ended, in two bits for each.
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

    /// Counts a request, in place of the oldest if there is no more room.
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

/// How the requests of a last while ended, counted by tenths of it.
struct CallBuckets: Hashable {
    private static let bucketCount = 10

    private let width: Duration
    private var buckets = Array(repeating: CallCounts(), count: bucketCount)
    private var newest = 0
    /// When the newest bucket ends.
    private var end = Duration.zero
    private(set) var counts = CallCounts()

    init(duration: Duration) {
        width = duration / Self.bucketCount
    }

    /// Counts a request, and forgets what is too long ago by now.
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
        // Everything is forgotten: what lies between then and now need not be gone through.
        if end <= now { end = now + width }
    }
}
