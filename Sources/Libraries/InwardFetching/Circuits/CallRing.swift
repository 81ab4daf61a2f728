/// How the last so many requests ended, in two bits for each.
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

    /// Counts a request, in place of the oldest if there is no more room.
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
