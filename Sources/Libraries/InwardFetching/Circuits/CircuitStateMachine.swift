/// The state machine of a circuit breaker: a value without a clock or tasks.
///
/// Each permitted request gets a permit and returns it once. Each transition begins a new generation, in which the permits of
/// earlier generations have no effect. Time never goes backward: a time before the latest one counts as the latest one.
struct CircuitStateMachine: Hashable {
    /// The permit of one request.
    struct Permit: Hashable {
        let generation: Int
        /// The round of probes that the permit belongs to; `nil` if the request is not a probe.
        var round: Int?
        /// The state transition that this request caused.
        var change: CircuitChange?

        var isProbe: Bool { round != nil }
    }

    private let policy: CircuitBreakerPolicy
    private let title: String
    private(set) var generation = 0
    private(set) var phase = CircuitPhase.closed
    private var window: CircuitWindow
    private var latest = Duration.zero
    /// The time at which an open circuit permits probes, or at which a half-open one gives up on its probes under way.
    private var turn = Duration.zero
    /// The duration for which the circuit stays open the next time.
    private var openDuration: Duration
    private var probesUnderWay = 0
    private var probesSucceeded = 0
    /// The number of times that the half-open circuit has given up on probes.
    private(set) var round = 0
    /// The explanation of rejections, formatted once per transition.
    private var explanation = ""

    /// Creates the state of a closed circuit.
    ///
    /// - Parameters:
    ///   - policy: The policy that opens and closes the circuit.
    ///   - title: The circuit's name in sentences, such as `the circuit`.
    init(policy: CircuitBreakerPolicy, title: String) {
        self.policy = policy
        self.title = title
        window = CircuitWindow(policy.window)
        openDuration = policy.openDuration
    }

    /// Returns the time until an open circuit permits probes.
    func timeLeft(at now: Duration) -> Duration { max(.zero, turn - max(now, latest)) }

    /// Returns a permit for a request.
    ///
    /// - Throws: A ``CircuitRejection`` if the circuit rejects the request.
    mutating func admit(at now: Duration) throws(CircuitRejection) -> Permit {
        latest = max(latest, now)
        switch phase {
        case .closed:
            return Permit(generation: generation)
        case .isolated:
            throw CircuitRejection(explanation: explanation, retryAfter: nil)
        case .open:
            guard turn <= latest else {
                throw CircuitRejection(explanation: explanation, retryAfter: .delay(turn - latest))
            }
            let change = enter(.halfOpen, "is half open, and its probes are under way")
            return probe(change)
        case .halfOpen:
            if turn <= latest, probesUnderWay > 0 {
                // Probes that take too long lose their permits. Their outcomes still count when they arrive.
                round += 1
                probesUnderWay = 0
            }
            guard probesUnderWay + probesSucceeded < policy.probes else {
                throw CircuitRejection(explanation: explanation, retryAfter: nil)
            }
            return probe(nil)
        }
    }

    /// Takes a permit back and records the outcome of its request. If `now` is `nil`, the latest known time is used, which is
    /// precise enough for a success in a window of calls.
    mutating func record(_ outcome: CallOutcome, of permit: Permit, at now: Duration?) -> CircuitChange? {
        guard permit.generation == generation else { return nil }
        if let now { latest = max(latest, now) }
        switch phase {
        case .closed:
            window.record(outcome, at: latest)
            return outcome.isBad ? cause.map { open(because: $0) } : nil
        case .halfOpen:
            release(permit)
            guard !outcome.isBad else { return open(because: "a probe \(words(for: outcome))") }
            probesSucceeded += 1
            return probesSucceeded >= policy.probes ? close() : nil
        case .open, .isolated:
            // No permit belongs to these states.
            return nil
        }
    }

    /// Takes back the permit of a request whose outcome says nothing about the upstream.
    mutating func release(_ permit: Permit) {
        guard permit.generation == generation, permit.round == round else { return }
        probesUnderWay -= 1
    }

    /// Rejects every request from now on.
    @discardableResult
    mutating func isolate() -> CircuitChange {
        enter(.isolated, "is isolated")
    }

    /// Closes the circuit and resets its counts.
    @discardableResult
    mutating func close() -> CircuitChange {
        window = CircuitWindow(policy.window)
        openDuration = policy.openDuration
        return enter(.closed, "is closed")
    }

    private mutating func probe(_ change: CircuitChange?) -> Permit {
        turn = latest + policy.openDuration
        probesUnderWay += 1
        return Permit(generation: generation, round: round, change: change)
    }

    private mutating func open(because cause: String) -> CircuitChange {
        turn = latest + openDuration
        openDuration = min(openDuration * 2, policy.maximumOpenDuration)
        return enter(.open, "is open, because \(cause)")
    }

    @discardableResult
    private mutating func enter(_ next: CircuitPhase, _ words: String) -> CircuitChange {
        defer { phase = next }
        generation += 1
        probesUnderWay = 0
        probesSucceeded = 0
        round = 0
        explanation = "was not sent: \(title) \(words)"
        return CircuitChange(from: phase, to: next)
    }

    /// The reason for opening the circuit, as part of a sentence; `nil` if it stays closed.
    private var cause: String? {
        let counts = window.counts
        guard counts.calls >= policy.minimumCalls else { return nil }
        let requests = policy.window.words(for: counts.calls)
        if counts.failureRate >= policy.failureRateThreshold {
            return "\(counts.failures) of \(requests) \(words(for: CallOutcome(isFailure: true)))"
        }
        guard let slowCalls = policy.slowCalls, counts.slowRate >= slowCalls.share else { return nil }
        return "\(counts.slow) of \(requests) \(words(for: CallOutcome(isFailure: false, isSlow: true)))"
    }

    private func words(for outcome: CallOutcome) -> String {
        guard !outcome.isFailure, let slowCalls = policy.slowCalls else { return "failed" }
        return "took \(slowCalls.duration) or longer"
    }
}

/// The state of a circuit regardless of the time, with the name that observers receive. It changes only with a
/// ``CircuitChange``, unlike a ``CircuitBreaker/State``, which contains the remaining time.
enum CircuitPhase: String, Hashable, Sendable {
    /// The circuit permits all requests.
    case closed
    /// The circuit rejects requests for a while.
    case open
    /// The circuit permits probes.
    case halfOpen = "half open"
    /// The circuit rejects requests until it is closed by hand.
    case isolated
}

/// A state transition of a circuit breaker.
struct CircuitChange: Hashable, Sendable {
    let from: CircuitPhase
    let to: CircuitPhase
}

/// The outcome of a request, from the point of view of a circuit breaker.
struct CallOutcome: Hashable {
    let isFailure: Bool
    let isSlow: Bool

    init(isFailure: Bool, isSlow: Bool = false) {
        self.isFailure = isFailure
        self.isSlow = isSlow
    }

    /// Whether the outcome counts against the upstream.
    var isBad: Bool { isFailure || isSlow }
}

/// The outcomes of recent requests: a value of constant size, without a clock.
struct CircuitWindow: Hashable {
    // Both are stored, one of them empty, because the payload of an enum would be copied for each request.
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

    /// Records a request that just ended. A window of calls ignores the time. A window of time counts an earlier time as the
    /// latest one.
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
        // After a long pause, all buckets have expired. The next one begins now.
        if end <= now { end = now + width }
    }
}
