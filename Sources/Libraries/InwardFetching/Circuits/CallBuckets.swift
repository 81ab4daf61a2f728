/// How the requests of a last while ended, counted by tenths of it.
struct CallBuckets: Hashable {
    private static let bucketCount = 10

    private let width: Duration
    private var buckets = Array(repeating: CallCounts(), count: bucketCount)
    private var newest = 0
    /// When the newest bucket ends.
    private var end = Duration.zero
    private(set) var counts = CallCounts()

    init(duration: Duration) {
        width = duration / Self.bucketCount
    }

    /// Counts a request, and forgets what is too long ago by now.
    ///
    /// - Complexity: O(1).
    mutating func record(_ outcome: CallOutcome, at now: Duration) {
        if end <= now { moveOn(to: now) }
        buckets[newest].add(outcome)
        counts.add(outcome)
    }

    private mutating func moveOn(to now: Duration) {
        var steps = 0
        while end <= now, steps < Self.bucketCount {
            newest = (newest + 1) % Self.bucketCount
            counts.remove(buckets[newest])
            buckets[newest] = CallCounts()
            end += width
            steps += 1
        }
        // Everything is forgotten: what lies between then and now need not be gone through.
        if end <= now { end = now + width }
    }
}
