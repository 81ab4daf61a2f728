import InwardCore
import InwardImages
import Synchronization

extension ImageCodecConformance {
    /// An interrupted call returns its complete result or fails as cancelled or timed out, at whichever step it is interrupted.
    func cancellationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        // A tall image has many rows to stop at.
        let image = Image.smooth(ImageSize(clamping: 16, 320))
        let bytes: [UInt8]
        do throws(ImageCodecError) { bytes = try codec.bytes(of: image, as: roundTrip.encoding) } catch {
            return ["An \(image) must be encodable as \(roundTrip.format), but failed: \(error.reason)."]
        }
        let tolerance = roundTrip.tolerance
        let name = "An \(image) in \(roundTrip.format)"
        let writing = InterruptibleCall(name: name, verb: "encoded") { () throws(ImageCodecError) in
            try codec.bytes(of: image, as: roundTrip.encoding)
        } isRight: { bytes in
            guard let copy = try? codec.image(from: bytes, ImageDecodingOptions()) else { return false }
            return copy.isSimilar(to: image, within: tolerance)
        }
        return await writing.violations(hasSteps: roundTrip.isInterruptible)
            + cancellationViolations(
                codec,
                ImageSample(bytes, format: roundTrip.format, image: image, tolerance: tolerance),
                isSmooth: true,
                hasSteps: roundTrip.isInterruptible
            )
    }

    /// The same for an image that is only decoded, at full size and reduced. A small image may be decoded in a single step. If
    /// an image has edges, its reduced form is only checked to be within the range of the surrounding colors.
    func cancellationViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        isSmooth: Bool = false,
        hasSteps: Bool
    ) async -> [String] {
        let name = "An \(sample.image) in \(sample.format)"
        let reduction: Int
        do throws(ImageCodecError) { reduction = try codec.header(of: sample.bytes).reductions.last ?? 1 } catch {
            return ["\(name) must be decodable, but failed: \(error.reason)."]
        }
        let whole = InterruptibleCall(name: name, verb: "decoded") { () throws(ImageCodecError) in
            try codec.image(from: sample.bytes, ImageDecodingOptions())
        } isRight: {
            $0.isSimilar(to: sample.image, within: sample.tolerance)
        }
        let violations = await whole.violations(hasSteps: hasSteps)
        guard reduction > 1 else { return violations }
        let tolerance = sample.tolerance + Self.reductionTolerance
        let bounds = isSmooth ? nil : ReductionBounds(of: sample.image, dividedBy: reduction)
        let mean = sample.image.averaged(by: reduction)
        let reduced = InterruptibleCall(name: name, verb: "decoded with the reduction \(reduction)") {
            () throws(ImageCodecError) in
            try codec.image(from: sample.bytes, ImageDecodingOptions(reduction: reduction))
        } isRight: {
            bounds?.hold($0, within: tolerance) ?? $0.isSimilar(to: mean, within: tolerance)
        }
        return await violations + reduced.violations(hasSteps: hasSteps)
    }
}

/// A codec call that can be interrupted, and the comparison of its result.
struct InterruptibleCall<Value: Sendable>: Sendable {
    /// The subject of the call, as the beginning of a sentence.
    let name: String
    /// The verb for the call, such as `decoded`.
    let verb: String
    /// The call.
    let run: @Sendable () throws(ImageCodecError) -> Value
    /// Returns whether the result is correct and complete.
    let isRight: @Sendable (Value) -> Bool

    /// The kind of interruption.
    enum Interruption: String, CaseIterable {
        case cancellation = "its task is cancelled"
        case deadline = "its deadline has passed"

        /// The error reason for the interruption.
        var reason: ImageCodecError.Reason {
            switch self {
            case .cancellation: .cancelled
            case .deadline: .timedOut
            }
        }
    }

    /// Returns what is wrong with the work when it is interrupted before it begins or between its steps. Work with several
    /// steps must also check its deadline between them, not only at its beginning and end.
    func violations(hasSteps: Bool) async -> [String] {
        var violations: [String] = []
        for interruption in Interruption.allCases {
            switch await result(interruption, at: 0) {
            case .success: violations.append("\(name) must not be \(verb) after \(interruption.rawValue), but is.")
            case .failure(let error) where error.reason != interruption.reason:
                violations.append(
                    "\(name) must fail as \(interruption.reason) after \(interruption.rawValue), but failed as \(error.reason)."
                )
            case .failure: break
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
    ) async -> Result<Value, ImageCodecError> {
        let start = Rendezvous(of: 2)
        let deadline = Deadline(in: .seconds(1), on: clock)
        // An unstructured task, because the work itself cancels the task through its clock. It is awaited below.
        let task = Task {
            await start.arrive()
            return await deadline.carried { () throws(ImageCodecError) in
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
