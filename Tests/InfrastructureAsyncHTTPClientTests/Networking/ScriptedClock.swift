import Synchronization

/// A clock that shows what it is set to, and whose sleeps are what a function makes of them.
final class ScriptedClock: Clock {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time = Mutex(Instant(offset: .zero))
    private let sleeps = Mutex<[Duration]>([])
    private let onSleep: @Sendable (ScriptedClock, Duration) async throws -> Void

    /// A clock at zero. The function is given the clock, and the time until which to sleep.
    init(onSleep: @escaping @Sendable (ScriptedClock, Duration) async throws -> Void) {
        self.onSleep = onSleep
    }

    /// Until when somebody wanted to sleep, in this order.
    var wakeTimes: [Duration] { sleeps.withLock(\.self) }

    var now: Instant { time.withLock(\.self) }
    var minimumResolution: Duration { .zero }

    func set(to offset: Duration) {
        time.withLock { $0 = Instant(offset: offset) }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        sleeps.withLock { $0.append(deadline.offset) }
        try await onSleep(self, deadline.offset)
    }
}
