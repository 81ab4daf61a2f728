/// What a request has while it is under way through a circuit. Whatever becomes of the request, the permit ends with it: one
/// that goes without a word gives its place to another.
struct CircuitPermit: ~Copyable {
    let pass: CircuitState.Pass
    private let breaker: CircuitBreaker
    private let start: Duration
    private var isSettled = false

    init(_ pass: CircuitState.Pass, of breaker: CircuitBreaker, start: Duration) {
        self.pass = pass
        self.breaker = breaker
        self.start = start
    }

    deinit {
        if pass.isProbe, !isSettled { breaker.giveBack(pass) }
    }

    /// Says whether the request was a failure, and what the circuit changes to because of it; `nil` if nothing came of the
    /// request that says anything.
    consuming func settle(isFailure: Bool?) -> CircuitChange? {
        guard let isFailure else { return nil }
        isSettled = true
        return breaker.record(isFailure: isFailure, of: pass, since: start)
    }
}
