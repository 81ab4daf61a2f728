import InwardCore
import InwardImages

/// A call of a codec that can be interrupted, and the comparison of what it returns.
struct InterruptibleWork<Value: Sendable>: Sendable {
    /// What the call works on, as the beginning of a sentence.
    let name: String
    /// What is done with it, such as `read`.
    let verb: String
    /// The call.
    let run: @Sendable () throws(ImageCodecError) -> Value
    /// Whether the call returned all of what it should.
    let isRight: @Sendable (Value) -> Bool

    /// How the work is interrupted.
    enum Interruption: String, CaseIterable {
        case cancellation = "its task is cancelled"
        case deadline = "the deadline of its task has passed"

        /// What the work fails as.
        var reason: ImageCodecError.Reason {
            switch self {
            case .cancellation: .cancelled
            case .deadline: .timedOut
            }
        }
    }

    /// Finds what the work does wrong when it is interrupted before it begins, or between its steps. Work that has steps must
    /// look at its deadline more often than at its beginning and its end.
    func violations(hasSteps: Bool) async -> [String] {
        var violations: [String] = []
        for interruption in Interruption.allCases {
            switch await result(interruption, at: 0) {
            case .success: violations.append("\(name) must not be \(verb) after \(interruption.rawValue), and is.")
            case .failure(let error) where error.reason != interruption.reason:
                violations.append(
                    "\(name) must not be \(verb) after \(interruption.rawValue), and failed as \(error.reason)."
                )
            case .failure: break
            }
        }
        let clock = PollingClock()
        switch await result(nil, at: 0, on: clock) {
        case .success(let value):
            // What is wrong without an interruption is found by other checks.
            guard isRight(value) else { return violations }
        case .failure(let error):
            return violations + [
                "\(name) must be \(verb) before the deadline of its task, and failed as \(error.reason)."
            ]
        }
        let readings = clock.readings
        guard !hasSteps || readings >= 3 else {
            return violations + [
                "\(name) must be \(verb) with three looks at the deadline or more, and was with \(readings)."
            ]
        }
        for reading in Self.points(upTo: readings) {
            for interruption in Interruption.allCases {
                let moment = "when \(interruption.rawValue) at look \(reading) of \(readings)"
                switch await result(interruption, at: reading) {
                case .success(let value) where !isRight(value):
                    violations.append("\(name) must not be \(verb) in part \(moment), and is.")
                case .success where hasSteps && reading == 1:
                    violations.append("\(name) must not be \(verb) to the end \(moment), and is.")
                case .failure(let error) where error.reason != interruption.reason:
                    violations.append(
                        "\(name) must fail as \(interruption.reason) \(moment), and did as \(error.reason)."
                    )
                case .success, .failure: break
                }
            }
        }
        return violations
    }

    /// The readings at which work is interrupted: the first ones, ever fewer, and the last.
    private static func points(upTo readings: Int) -> [Int] {
        [1, 2, 3, 4, 8, 16, 32, 64].filter { $0 < readings } + (readings > 0 ? [readings] : [])
    }

    /// Runs the work and interrupts it at a reading of its deadline; before it begins, with 0.
    private func result(
        _ interruption: Interruption?,
        at reading: Int,
        on clock: PollingClock = PollingClock()
    ) async -> Result<Value, ImageCodecError> {
        let start = Rendezvous(of: 2)
        let deadline = Deadline(in: .seconds(1), on: clock)
        // Unstructured, because the work itself cancels the task, from its clock. It is awaited below.
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
