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
