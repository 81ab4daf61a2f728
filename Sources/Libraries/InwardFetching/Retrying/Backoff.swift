/// How long to wait before a request is tried again: a while by chance, up to a limit that doubles with each attempt.
package struct Backoff: Hashable, Sendable {
    /// No wait is longer, so that none is too long for a number.
    package static let longest = Duration.seconds(31_536_000)

    private let base: Duration
    private let maximum: Duration

    /// Makes a backoff whose limit is `base` at first, and `maximum` at last.
    package init(base: Duration, maximum: Duration) {
        self.base = min(max(.zero, base), Self.longest)
        self.maximum = min(max(.zero, maximum), Self.longest)
    }

    /// Tells how long to wait behind so many attempts.
    ///
    /// - Parameters:
    ///   - attempts: How many attempts were made, at least 1.
    ///   - fraction: From 0 up to but not including 1.
    /// - Returns: that fraction of the most the wait can be.
    package func delay(after attempts: Int, fraction: Double) -> Duration { limit(after: attempts) * fraction }

    private func limit(after attempts: Int) -> Duration {
        var limit = base
        var doublings = attempts - 1
        while doublings > 0, limit > .zero, limit < maximum {
            limit *= 2
            doublings -= 1
        }
        return min(limit, maximum)
    }
}
