/// The policy of a ``HedgingDataFetcher``, which decides whether and when a second attempt begins: a value without a clock or
/// tasks.
///
/// Each first attempt deposits a share of a token, and each second attempt costs a token, which limits the fraction of second
/// attempts. Few tokens accumulate, because many second attempts at once would make a slow upstream even slower.
struct HedgingPolicy: Sendable {
    /// The maximum number of consecutive second attempts.
    static let longestRow = 10

    private let setting: HedgingDelay
    private var window: LatencyWindow
    private var tokens: TokenBalance

    init(_ delay: HedgingDelay, share: Double) {
        setting = delay
        window = LatencyWindow(capacity: delay.capacity)
        tokens = TokenBalance(share: share, limit: Self.longestRow)
    }

    /// The time that a first attempt may take now.
    var delay: Duration {
        guard let percent = setting.percent, window.count * 2 >= window.capacity else { return setting.start }
        return window.percentile(percent) ?? setting.start
    }

    /// Records the beginning of a first attempt.
    ///
    /// - Returns: The delay before a second attempt; `nil` if there is no token for one.
    mutating func begin() -> Duration? {
        tokens.deposit()
        return tokens.isBelow(1) ? nil : delay
    }

    /// Takes a token for a second attempt; returns `false` if there is none.
    mutating func hedge() -> Bool { tokens.withdraw() }

    /// Records the duration of a first attempt, or how long it had been running when it was cancelled.
    mutating func record(_ duration: Duration) {
        window.record(duration)
    }
}

/// A sliding window of recent durations, which computes their percentiles: a value without a clock.
struct LatencyWindow: Sendable {
    /// The maximum number of durations.
    let capacity: Int
    /// A ring buffer in order of arrival, which begins at the oldest duration.
    private var recent: [Duration] = []
    private var oldest = 0
    /// The same durations in ascending order.
    private var sorted: [Duration] = []

    /// Creates an empty window.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The number of durations in the window.
    var count: Int { recent.count }

    /// Records a duration, replacing the oldest if the window is full.
    ///
    /// - Complexity: O(n) moves in the number of durations, and O(log n) comparisons.
    mutating func record(_ duration: Duration) {
        if recent.count < capacity {
            recent.append(duration)
        } else {
            sorted.remove(at: index(of: recent[oldest]))
            recent[oldest] = duration
            oldest = oldest + 1 == capacity ? 0 : oldest + 1
        }
        sorted.insert(duration, at: index(of: duration))
    }

    /// Returns a percentile of the durations; `nil` if the window is empty.
    ///
    /// - Complexity: O(1).
    func percentile(_ percent: Int) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        let rank = (sorted.count * min(max(percent, 0), 100) + 99) / 100
        return sorted[max(rank, 1) - 1]
    }

    /// Returns the sorted index of a duration, or the index at which to insert it.
    private func index(of duration: Duration) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < duration { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
