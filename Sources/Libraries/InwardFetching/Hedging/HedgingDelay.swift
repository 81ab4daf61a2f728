/// How long a first attempt may take before a second one is made beside it.
public struct HedgingDelay: Hashable, Sendable {
    /// How long while nothing else is known.
    let start: Duration
    /// How many of a hundred recent attempts are to take no longer; `nil` if it is always as at the start.
    let percent: Int?
    /// How many are recent.
    let capacity: Int

    /// Always so long.
    ///
    /// - Parameter delay: How long; what is below zero counts as zero.
    /// - Returns: the delay.
    public static func fixed(_ delay: Duration) -> Self {
        Self(start: max(.zero, delay), percent: nil, capacity: 1)
    }

    /// As long as most of the recent attempts took, so that a second one is made only where the first is unusually slow.
    ///
    /// - Parameters:
    ///   - percent: How many of a hundred are to take no longer, from 1 to 99.
    ///   - start: How long until half as many attempts were seen as are recent; what is below zero counts as zero.
    ///   - capacity: How many are recent, from 10 to 10,000.
    /// - Returns: the delay.
    public static func percentile(_ percent: Int, atFirst start: Duration, ofLast capacity: Int = 200) -> Self {
        Self(
            start: max(.zero, start),
            percent: min(max(percent, 1), 99),
            capacity: min(max(capacity, 10), 10_000)
        )
    }
}

extension HedgingDelay: CustomStringConvertible {
    /// How long, as a part of a sentence: `2.0 seconds`, `what 95 of 100 recent attempts took at most`.
    public var description: String { percent.map { "what \($0) of 100 recent attempts took at most" } ?? "\(start)" }
}
