import Synchronization

/// A clock that advances by a fixed step each time it is read, and never otherwise.
final class SteppingClock: Clock {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time = Mutex(Duration.zero)
    private let step: Duration

    init(step: Duration) {
        self.step = step
    }

    var now: Instant {
        time.withLock { time in
            time += step
            return Instant(offset: time)
        }
    }

    var minimumResolution: Duration { step }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        throw CancellationError()
    }
}
