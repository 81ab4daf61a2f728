/// What a circuit breaker decides: a value without a clock and without a task, which is told the time and what happens.
///
/// Whoever is let through gets a permit, and brings it back once. Each change begins a new generation, and the permits of an
/// earlier one change nothing any more. A time that lies before an earlier one counts as that.
struct CircuitState: Hashable {
    /// That a request was let through.
    struct Permit: Hashable {
        let generation: Int
        /// Which of the rounds of probes it belongs to, if it is one.
        var round: Int?
        /// What the circuit changed to for this request.
        var change: CircuitChange?

        var isProbe: Bool { round != nil }
    }

    private let policy: CircuitBreakerPolicy
    private let title: String
    private(set) var generation = 0
    private(set) var phase = CircuitPhase.closed
    private var window: CircuitWindow
    private var latest = Duration.zero
    /// While the circuit is open, when it lets probes through; while it is half open, when it gives up those under way.
    private var turn = Duration.zero
    /// How long it is open the next time.
    private var openDuration: Duration
    private var probesUnderWay = 0
    private var probesSucceeded = 0
    /// How often the probes under way were given up.
    private(set) var round = 0
    /// What refused requests are told, put into words once for all of them.
    private var explanation = ""

    /// Makes the state of a closed circuit.
    ///
    /// - Parameters:
    ///   - policy: When it opens and closes.
    ///   - title: What it is called in sentences, such as `the circuit`.
    init(policy: CircuitBreakerPolicy, title: String) {
        self.policy = policy
        self.title = title
        window = CircuitWindow(policy.window)
        openDuration = policy.openDuration
    }

    /// How much time is left until an open circuit lets probes through.
    func timeLeft(at now: Duration) -> Duration { max(.zero, turn - max(now, latest)) }

    /// Lets a request through.
    ///
    /// - Throws: a ``CircuitRejection`` if it is not.
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
                // Nobody waits for ever for whoever does not come back. Who comes back late still tells how it went.
                round += 1
                probesUnderWay = 0
            }
            guard probesUnderWay + probesSucceeded < policy.probes else {
                throw CircuitRejection(explanation: explanation, retryAfter: nil)
            }
            return probe(nil)
        }
    }

    /// Takes a permit back, and what came of its request. Without a time it ended just now, which is enough for a success and a
    /// window of calls.
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
            // Nobody has a permit of theirs.
            return nil
        }
    }

    /// Takes a permit back of whose request nothing came that says anything.
    mutating func release(_ permit: Permit) {
        guard permit.generation == generation, permit.round == round else { return }
        probesUnderWay -= 1
    }

    /// Refuses every request from now on.
    mutating func isolate() {
        enter(.isolated, "is isolated")
    }

    /// Lets every request through from now on, and forgets what was.
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

    /// Why the circuit has to open, as a part of a sentence; `nil` if it has not to.
    private var cause: String? {
        let counts = window.counts
        guard counts.calls >= policy.minimumCalls else { return nil }
        let requests = policy.window.words(for: counts.calls)
        if counts.failureRateThreshold >= policy.failureRateThreshold {
            return "\(counts.failures) of \(requests) \(words(for: CallOutcome(isFailure: true)))"
        }
        guard let slowCalls = policy.slowCalls, counts.slowShare >= slowCalls.share else { return nil }
        return "\(counts.slow) of \(requests) \(words(for: CallOutcome(isFailure: false, isSlow: true)))"
    }

    private func words(for outcome: CallOutcome) -> String {
        guard !outcome.isFailure, let slowCalls = policy.slowCalls else { return "failed" }
        return "took \(slowCalls.duration) or longer"
    }
}

/// What a circuit does with requests, by the name that observers are told.
enum CircuitPhase: String, Hashable, Sendable {
    /// It lets all of them through.
    case closed
    /// It refuses them for a while.
    case open
    /// It lets probes through.
    case halfOpen = "half open"
    /// It refuses them until it is told otherwise.
    case isolated
}

/// That a circuit does something else with requests from now on.
struct CircuitChange: Hashable, Sendable {
    let from: CircuitPhase
    let to: CircuitPhase
}

/// How a request ended, as far as a circuit breaker is concerned.
struct CallOutcome: Hashable {
    let isFailure: Bool
    let isSlow: Bool

    init(isFailure: Bool, isSlow: Bool = false) {
        self.isFailure = isFailure
        self.isSlow = isSlow
    }

    /// Whether it speaks against the source.
    var isBad: Bool { isFailure || isSlow }
}
