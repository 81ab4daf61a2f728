/// The way that a run of a ``DeterministicScheduler`` went, in short: runs with equal traces made the same choices out of as
/// many, at the same moments.
public struct SchedulerTrace: Hashable, Sendable, CustomStringConvertible {
    /// How many steps were taken: pieces of work that were run, and moves of the clock.
    public private(set) var steps = 0
    private var digest: UInt64 = 0

    /// Adds that one of the pieces of work that were ready was run.
    mutating func addChoice(_ index: Int, of count: Int) {
        add(UInt64(truncatingIfNeeded: index))
        add(UInt64(truncatingIfNeeded: count))
        steps += 1
    }

    /// Adds that the clock was moved on to a moment.
    mutating func addMove(to offset: Duration) {
        add(UInt64(bitPattern: offset.components.seconds))
        add(UInt64(bitPattern: offset.components.attoseconds))
        steps += 1
    }

    private mutating func add(_ number: UInt64) {
        var mixer = SplitMix64(seed: digest ^ number)
        digest = mixer.next()
    }

    /// The number of steps and a digest of them, such as `12 steps (9a3f)`.
    public var description: String { "\(steps) steps (\(String(digest, radix: 16)))" }
}
