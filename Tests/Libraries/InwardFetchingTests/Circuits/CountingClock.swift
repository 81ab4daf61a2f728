import InwardTesting
import Synchronization

/// A manual clock that counts how often it is read.
final class CountingClock: Clock {
    private let base = ManualClock()
    private let counted = Atomic(0)

    /// The number of reads.
    var looks: Int { counted.load(ordering: .relaxed) }

    var now: ManualClock.Instant {
        counted.add(1, ordering: .relaxed)
        return base.now
    }

    var minimumResolution: Duration { base.minimumResolution }

    func advance(by duration: Duration) { base.advance(by: duration) }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
