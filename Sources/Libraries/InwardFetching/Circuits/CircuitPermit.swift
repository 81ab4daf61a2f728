/// What a request has while it is under way through a circuit. Whatever becomes of the request, the permit ends with it: that of
/// a probe which goes without a word gives its place to another.
struct CircuitPermit: ~Copyable {
    let pass: CircuitState.Pass
    /// When the request was let through, if that matters.
    let start: Duration?
    /// Who gets the place back; nobody if the request is no probe, and without a count of references then.
    private var keeper: CircuitBreaker?

    init(_ pass: CircuitState.Pass, of breaker: CircuitBreaker, start: Duration?) {
        self.pass = pass
        self.start = start
        keeper = pass.isProbe ? breaker : nil
    }

    deinit { keeper?.giveBack(pass) }

    /// Ends the permit without its place being given back, because somebody sees to that.
    consuming func use() -> (pass: CircuitState.Pass, start: Duration?) {
        keeper = nil
        return (pass, start)
    }
}
