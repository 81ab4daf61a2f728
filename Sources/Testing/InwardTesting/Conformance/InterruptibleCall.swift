import InwardCore
import InwardImages
import Synchronization

/// An error of a port whose calls can be interrupted.
protocol InterruptionError: Error {
    associatedtype Reason: Equatable

    /// The kind of failure.
    var reason: Reason { get }
    /// The error if the task is cancelled.
    static var cancelled: Self { get }
    /// The error if the task's deadline has passed.
    static var timedOut: Self { get }
}

extension ImageCodecError: InterruptionError {}
extension TypesettingError: InterruptionError {}

/// A call of a port that can be interrupted, and the comparison of its result.
struct InterruptibleCall<Value: Sendable, Failure: InterruptionError>: Sendable {
    /// The subject of the call, as the beginning of a sentence.
    let name: String
    /// The verb for the call, such as `decoded`.
    let verb: String
    /// The call.
    let run: @Sendable () throws(Failure) -> Value
    /// Returns whether the result is correct and complete.
    let isRight: @Sendable (Value) -> Bool

    /// The kind of interruption.
    enum Interruption: String, CaseIterable {
        case cancellation = "its task is cancelled"
        case deadline = "its deadline has passed"

        /// The error reason for the interruption.
        var reason: Failure.Reason {
            switch self {
            case .cancellation: Failure.cancelled.reason
            case .deadline: Failure.timedOut.reason
            }
        }
    }

    /// Returns what is wrong with the work when it is interrupted before it begins or between its steps. Work with several
    /// steps must also check its deadline between them, not only at its beginning and end. Work that must stop must not return a
    /// result if it is interrupted before it begins. Other work may return a complete one.
    func violations(hasSteps: Bool, mustStop: Bool = true) async -> [String] {
        var violations: [String] = []
        for interruption in Interruption.allCases {
            switch await result(interruption, at: 0) {
            case .success where mustStop:
                violations.append("\(name) must not be \(verb) after \(interruption.rawValue), but is.")
            case .success(let value) where !isRight(value):
                violations.append("\(name) must not be \(verb) only in part after \(interruption.rawValue), but is.")
            case .failure(let error) where error.reason != interruption.reason:
                violations.append(
                    "\(name) must fail as \(interruption.reason) after \(interruption.rawValue), but failed as \(error.reason)."
                )
            case .success, .failure: break
            }
        }
        let clock = PollingClock()
        switch await result(nil, at: 0, on: clock) {
        case .success(let value):
            // Other checks report what is wrong without an interruption.
            guard isRight(value) else { return violations }
        case .failure(let error):
            return violations + [
                "\(name) must be \(verb) before its deadline, but failed as \(error.reason)."
            ]
        }
        let readings = clock.readings
        guard !hasSteps || readings >= 3 else {
            return violations + [
                "\(name) must be \(verb) with at least three deadline checks, but was with \(readings)."
            ]
        }
        for reading in Self.points(upTo: readings) {
            for interruption in Interruption.allCases {
                let moment = "when \(interruption.rawValue) at deadline check \(reading) of \(readings)"
                switch await result(interruption, at: reading) {
                case .success(let value) where !isRight(value):
                    violations.append("\(name) must not be \(verb) only in part \(moment), but is.")
                case .success where hasSteps && reading == 1:
                    violations.append("\(name) must not be \(verb) completely \(moment), but is.")
                case .failure(let error) where error.reason != interruption.reason:
                    violations.append(
                        "\(name) must fail as \(interruption.reason) \(moment), but failed as \(error.reason)."
                    )
                case .success, .failure: break
                }
            }
        }
        return violations
    }

    /// Returns the clock readings at which to interrupt: the first ones, then ever fewer, and the last.
    private static func points(upTo readings: Int) -> [Int] {
        [1, 2, 3, 4, 8, 16, 32, 64].filter { $0 < readings } + (readings > 0 ? [readings] : [])
    }

    /// Runs the work and interrupts it at the given reading of its deadline, or before it begins for 0.
    private func result(
        _ interruption: Interruption?,
        at reading: Int,
        on clock: PollingClock = PollingClock()
    ) async -> Result<Value, Failure> {
        let start = Rendezvous(of: 2)
        let deadline = Deadline(in: .seconds(1), on: clock)
        // An unstructured task, because the work itself cancels the task through its clock. It is awaited below.
        let task = Task {
            await start.arrive()
            return await deadline.carried { () throws(Failure) in
                clock.start()
                return try run()
            }
        }
        let interrupt: @Sendable () -> Void =
            switch interruption {
            case .cancellation: { task.cancel() }
            case .deadline: { clock.advance() }
            case nil: {}
            }
        if reading == 0 { interrupt() } else { clock.act(at: reading, interrupt) }
        await start.arrive()
        return await task.value
    }
}

/// A clock that stands still, counts its readings, and runs actions at chosen readings.
///
/// Interruptible code checks its deadline between steps. To interrupt work at the same step in every run, give it
/// a deadline on this clock, and advance the clock in an action.
final class PollingClock: Clock {
    private struct State {
        var readings: Int?
        var hasPassed = false
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// The number of readings since the clock was started.
    var readings: Int { state.withLock { $0.readings ?? 0 } }

    /// Starts counting readings.
    func start() { state.withLock { $0.readings = 0 } }

    /// Moves the time past every deadline.
    func advance() { state.withLock { $0.hasPassed = true } }

    /// Runs an action during a reading, before it returns. Readings are counted from 1.
    func act(at reading: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.actions[reading] = action }
    }

    /// The current time, which an action may change during the reading.
    var now: ManualClock.Instant {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard let readings = state.readings else { return nil }
            state.readings = readings + 1
            return state.actions.removeValue(forKey: readings + 1)
        }
        action?()
        return ManualClock.Instant(offset: state.withLock(\.hasPassed) ? .seconds(3_600) : .zero)
    }

    var minimumResolution: Duration { .zero }

    /// Throws. Nothing sleeps on this clock, because work that carries a deadline schedules no timers.
    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws { throw CancellationError() }
}
