/// Decides when a second attempt is made, and whether: a value without a clock or a task, for a ``HedgingDataFetcher``.
///
/// Each first attempt pays a share of what a second one costs, so that there are no more of these than that share. What is paid
/// is kept for a while, but not for long: when all of a sudden everything is slow, second attempts make it worse.
struct HedgingPolicy: Sendable {
    /// How many second attempts there can be in a row at most.
    static let longestRow = 10
    /// In millionths, which are counted exactly.
    private static let price = 1_000_000

    private let setting: HedgingDelay
    private let share: Int
    private var window: LatencyWindow
    private var funds = 0

    init(_ delay: HedgingDelay, share: Double) {
        setting = delay
        self.share = Int((share >= 0 ? min(share, 1) : 0) * Double(Self.price))
        window = LatencyWindow(capacity: delay.capacity)
    }

    /// How long a first attempt may take now.
    var delay: Duration {
        guard let percent = setting.percent, window.count * 2 >= window.capacity else { return setting.start }
        return window.percentile(percent) ?? setting.start
    }

    /// Takes into account that a first attempt begins.
    ///
    /// - Returns: when a second one is to be made beside it; `nil` if there can be none.
    mutating func begin() -> Duration? {
        funds = min(funds + share, Self.longestRow * Self.price)
        return funds >= Self.price ? delay : nil
    }

    /// Pays for a second attempt; `false` if there can be none.
    mutating func hedge() -> Bool {
        guard funds >= Self.price else { return false }
        funds -= Self.price
        return true
    }

    /// Takes into account how long a first attempt took, or how long it had taken when it was given up.
    mutating func record(_ duration: Duration) {
        window.record(duration)
    }
}

/// How long the most recent of something took, and what most of them did not exceed: a value without a clock.
struct LatencyWindow: Sendable {
    /// How many it remembers.
    let capacity: Int
    /// In the order in which they came, from the place of the oldest on.
    private var recent: [Duration] = []
    private var oldest = 0
    /// The same, the shortest first.
    private var sorted: [Duration] = []

    /// Makes a window that remembers nothing yet.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// How many it remembers now.
    var count: Int { recent.count }

    /// Remembers how long one took, and forgets the oldest if there is no room.
    ///
    /// - Complexity: O(n) moves in the number of those that are remembered, and O(log n) comparisons.
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

    /// The shortest that so many of a hundred did not exceed; `nil` if none is remembered.
    ///
    /// - Complexity: O(1).
    func percentile(_ percent: Int) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        let rank = (sorted.count * min(max(percent, 0), 100) + 99) / 100
        return sorted[max(rank, 1) - 1]
    }

    /// Where a duration is, or belongs.
    private func index(of duration: Duration) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < duration { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
