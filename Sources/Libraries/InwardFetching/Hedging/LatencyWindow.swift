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
