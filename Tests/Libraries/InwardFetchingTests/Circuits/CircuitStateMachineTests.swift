import Testing

@testable import InwardFetching

struct CircuitStateMachineTests {
    private static let policy = CircuitBreakerPolicy(
        window: .calls(4),
        minimumCalls: 2,
        openDuration: .seconds(10),
        maximumOpenDuration: .seconds(30),
        probes: 2
    )

    private let good = CallOutcome(isFailure: false)
    private let failed = CallOutcome(isFailure: true)
    private let slow = CallOutcome(isFailure: false, isSlow: true)

    private var circuit = CircuitStateMachine(policy: policy, title: "the circuit")

    private mutating func admit(at seconds: Double = 0) throws -> CircuitStateMachine.Permit {
        try circuit.admit(at: .seconds(seconds))
    }

    /// Records the outcomes of requests in sequence, and returns the last transition.
    @discardableResult
    private mutating func record(_ outcomes: CallOutcome..., at seconds: Double = 0) throws -> CircuitChange? {
        var change: CircuitChange?
        for outcome in outcomes { change = circuit.record(outcome, of: try admit(at: seconds), at: .seconds(seconds)) }
        return change
    }

    /// Returns the rejection of a request; `nil` if it is permitted.
    private mutating func refusal(at seconds: Double = 0) -> CircuitRejection? {
        do throws(CircuitRejection) {
            _ = try circuit.admit(at: .seconds(seconds))
            return nil
        } catch {
            return error
        }
    }

    @Test mutating func newCircuitIsClosedAndPermitsAllRequests() throws {
        for _ in 0..<100 { #expect(try admit() == CircuitStateMachine.Permit(generation: 0)) }
        #expect(circuit.phase == .closed)
    }

    @Test mutating func circuitOpensAtTheFailureRateThreshold() throws {
        #expect(try record(good, good, good, failed) == nil)
        #expect(try record(failed) == CircuitChange(from: .closed, to: .open))
        #expect(circuit.phase == .open)
        #expect(refusal()?.explanation == "was not sent: the circuit is open, because 2 of the last 4 requests failed")
    }

    @Test mutating func circuitDoesNotOpenBelowTheMinimumCalls() throws {
        #expect(try record(failed) == nil)
        #expect(try record(failed) != nil)
    }

    @Test mutating func successDoesNotOpenTheCircuit() throws {
        #expect(try record(failed, good) == nil)
        #expect(circuit.phase == .closed)
        #expect(try record(failed) != nil)
    }

    @Test mutating func callsOutsideTheWindowDoNotCount() throws {
        try record(good, good, good, failed, good, good, good)
        #expect(try record(failed) == nil)
    }

    @Test(arguments: [(0.55, 11), (0.07, 2), (0.3, 6), (1, 20), (0.01, 1)])
    mutating func ratesAreNotRounded(share: Double, failures: Int) throws {
        let policy = CircuitBreakerPolicy(window: .calls(20), minimumCalls: 20, failureRateThreshold: share)
        for count in [failures - 1, failures] {
            circuit = CircuitStateMachine(policy: policy, title: "")
            for _ in count..<20 { try record(good) }
            for _ in 0..<count { try record(failed) }
            #expect((circuit.phase == .open) == (count == failures))
        }
    }

    @Test mutating func slowRequestsOpenTheCircuitWithoutFailures() throws {
        let policy = CircuitBreakerPolicy(minimumCalls: 3, slowCalls: .init(.seconds(2), share: 0.6))
        circuit = CircuitStateMachine(policy: policy, title: "the circuit to users")
        #expect(try record(slow, good, slow) == CircuitChange(from: .closed, to: .open))
        let words =
            "was not sent: the circuit to users is open, because 2 of the last 3 requests took 2.0 seconds or longer"
        #expect(refusal()?.explanation == words)
    }

    @Test mutating func failuresAndSlowRequestsHaveSeparateRates() throws {
        circuit = CircuitStateMachine(
            policy: CircuitBreakerPolicy(minimumCalls: 4, slowCalls: .init(.seconds(2))),
            title: ""
        )
        #expect(try record(good, good, good, good, slow, failed, slow, failed) == nil)
        #expect(try record(failed, failed, failed) == nil)
        #expect(try record(failed) != nil)
    }

    @Test mutating func rejectionsNameTheTimeBasedWindow() throws {
        let policy = CircuitBreakerPolicy(window: .time(.seconds(60)), minimumCalls: 3)
        circuit = CircuitStateMachine(policy: policy, title: "the circuit")
        try record(failed, failed, at: 1)
        #expect(circuit.phase == .closed)
        try record(failed, failed, at: 100)
        #expect(circuit.phase == .closed)
        try record(failed, at: 110)
        let words = "was not sent: the circuit is open, because 3 of 3 requests within 60.0 seconds failed"
        #expect(refusal(at: 110)?.explanation == words)
    }

    @Test mutating func rejectionsContainTheRemainingOpenTime() throws {
        try record(failed, failed, at: 5)
        #expect(refusal(at: 5)?.retryAfter == .delay(.seconds(10)))
        #expect(refusal(at: 14.5)?.retryAfter == .delay(.seconds(0.5)))
        #expect(circuit.timeLeft(at: .seconds(14.5)) == .seconds(0.5))
        #expect(circuit.timeLeft(at: .seconds(100)) == .zero)
        #expect(circuit.phase == .open)
        // A time before the latest one counts as the latest.
        #expect(refusal(at: 3)?.retryAfter == .delay(.seconds(0.5)))
    }

    @Test mutating func configuredNumberOfProbesIsPermittedAfterTheOpenDuration() throws {
        try record(failed, failed)
        let change = CircuitChange(from: .open, to: .halfOpen)
        #expect(try admit(at: 10) == CircuitStateMachine.Permit(generation: 2, round: 0, change: change))
        #expect(circuit.phase == .halfOpen)
        #expect(try admit(at: 10) == CircuitStateMachine.Permit(generation: 2, round: 0))
        let words = "was not sent: the circuit is half open, and its probes are under way"
        #expect(refusal(at: 10) == CircuitRejection(explanation: words, retryAfter: nil))
    }

    @Test mutating func circuitClosesAndResetsWhenAllProbesSucceed() throws {
        try record(failed, failed)
        let probes = [try admit(at: 10), try admit(at: 10)]
        #expect(circuit.record(good, of: probes[0], at: .seconds(10)) == nil)
        // A successful probe does not free its permit for another probe.
        #expect(refusal(at: 10) != nil)
        let change = circuit.record(good, of: probes[1], at: .seconds(10))
        #expect(change == CircuitChange(from: .halfOpen, to: .closed))
        #expect(try record(failed, at: 10) == nil)
        #expect(circuit.phase == .closed)
    }

    @Test mutating func probesMayRunOneAtATimeAtAnyPace() throws {
        try record(failed, failed)
        #expect(try record(good, at: 1_000) == nil)
        #expect(try record(good, at: 9_000) == CircuitChange(from: .halfOpen, to: .closed))
    }

    @Test mutating func failedProbeReopensTheCircuit() throws {
        try record(failed, failed)
        let probes = [try admit(at: 10), try admit(at: 10)]
        let change = circuit.record(failed, of: probes[0], at: .seconds(12))
        #expect(change == CircuitChange(from: .halfOpen, to: .open))
        let words = "was not sent: the circuit is open, because a probe failed"
        #expect(refusal(at: 12) == CircuitRejection(explanation: words, retryAfter: .delay(.seconds(20))))
        // The other probe is too late to close the circuit.
        #expect(circuit.record(good, of: probes[1], at: .seconds(12)) == nil)
        #expect(circuit.phase == .open)
    }

    @Test mutating func successesOfAnEarlierHalfOpenPhaseDoNotCount() throws {
        try record(failed, failed)
        try record(good, failed, at: 10)
        #expect(try record(good, at: 30) == nil)
        #expect(try record(good, at: 30) == CircuitChange(from: .halfOpen, to: .closed))
    }

    @Test mutating func slowProbeReopensTheCircuit() throws {
        let policy = CircuitBreakerPolicy(minimumCalls: 1, slowCalls: .init(.seconds(2)))
        circuit = CircuitStateMachine(policy: policy, title: "the circuit")
        try record(failed)
        #expect(try record(slow, at: 10) == CircuitChange(from: .halfOpen, to: .open))
        let words = "was not sent: the circuit is open, because a probe took 2.0 seconds or longer"
        #expect(refusal(at: 10)?.explanation == words)
    }

    @Test mutating func eachFailedProbeDoublesTheOpenDurationUpToTheMaximum() throws {
        try record(failed, failed)
        var now = 0.0
        for seconds in [10.0, 20, 30, 30] {
            #expect(circuit.timeLeft(at: .seconds(now)) == .seconds(seconds))
            now += seconds
            #expect(try record(failed, at: now) == CircuitChange(from: .halfOpen, to: .open))
        }
        try record(good, good, at: now + 30)
        try record(failed, failed, at: now + 30)
        #expect(circuit.timeLeft(at: .seconds(now + 30)) == .seconds(10))
    }

    @Test mutating func inconclusiveProbeFreesItsPermit() throws {
        try record(failed, failed)
        let probes = [try admit(at: 10), try admit(at: 10)]
        circuit.release(probes[1])
        #expect(circuit.phase == .halfOpen)
        #expect(refusal(at: 10) == nil)
        #expect(refusal(at: 10) != nil)
    }

    @Test mutating func lateProbesLoseTheirPermits() throws {
        try record(failed, failed)
        let lost = [try admit(at: 10), try admit(at: 15)]
        // The second probe has until 25 seconds.
        #expect(refusal(at: 24.9) != nil)
        let next = [try admit(at: 25), try admit(at: 25)]
        #expect(next.map(\.isProbe) == [true, true])
        #expect(next.map(\.change) == [nil, nil])
        #expect(refusal(at: 25) != nil)
        // Returning a lost permit does not free one.
        circuit.release(lost[0])
        #expect(refusal(at: 25) != nil)
        #expect(circuit.phase == .halfOpen)
        #expect(circuit.record(good, of: next[0], at: .seconds(25)) == nil)
        #expect(circuit.record(good, of: next[1], at: .seconds(25)) == CircuitChange(from: .halfOpen, to: .closed))
        #expect(circuit.record(failed, of: lost[1], at: .seconds(25)) == nil)
        #expect(circuit.phase == .closed)
    }

    // If the upstream hangs for longer than the open duration, every probe is late. At least one must count.
    @Test mutating func failureOfALateProbeReopensTheCircuit() throws {
        try record(failed, failed)
        let lost = [try admit(at: 10), try admit(at: 10)]
        _ = try admit(at: 20)
        #expect(circuit.record(failed, of: lost[0], at: .seconds(25)) == CircuitChange(from: .halfOpen, to: .open))
        #expect(circuit.record(failed, of: lost[1], at: .seconds(25)) == nil)
        #expect(refusal(at: 44) != nil)
    }

    @Test mutating func successOfALateProbeCounts() throws {
        try record(failed, failed)
        let lost = [try admit(at: 10), try admit(at: 10)]
        let next = try admit(at: 20)
        #expect(circuit.record(good, of: lost[0], at: .seconds(21)) == nil)
        // The success and the probe in flight are as many probes as the policy permits.
        #expect(refusal(at: 21) != nil)
        #expect(circuit.record(good, of: next, at: .seconds(21)) == CircuitChange(from: .halfOpen, to: .closed))
    }

    @Test mutating func earlierSuccessesCountWhenOtherProbesAreLate() throws {
        try record(failed, failed)
        try record(good, at: 10)
        _ = try admit(at: 10)
        #expect(refusal(at: 19) != nil)
        #expect(try record(good, at: 20) == CircuitChange(from: .halfOpen, to: .closed))
    }

    @Test mutating func requestsPermittedBeforeTheCircuitOpenedDoNotCount() throws {
        let permits = [try admit(), try admit(), try admit()]
        try record(failed, failed)
        #expect(circuit.record(failed, of: permits[0], at: .seconds(1)) == nil)
        #expect(circuit.timeLeft(at: .seconds(1)) == .seconds(9))
        _ = try admit(at: 10)
        #expect(circuit.record(failed, of: permits[1], at: .seconds(10)) == nil)
        circuit.release(permits[1])
        #expect(circuit.phase == .halfOpen)
        circuit.close()
        try record(failed, at: 10)
        #expect(circuit.record(failed, of: permits[2], at: .seconds(10)) == nil)
        #expect(circuit.phase == .closed)
    }

    @Test mutating func isolatedCircuitRejectsRequestsUntilItIsClosed() throws {
        let permit = try admit()
        circuit.isolate()
        let refusal = CircuitRejection(explanation: "was not sent: the circuit is isolated", retryAfter: nil)
        #expect(self.refusal() == refusal)
        #expect(self.refusal(at: 1_000_000) == refusal)
        #expect(circuit.record(good, of: permit, at: .zero) == nil)
        #expect(circuit.phase == .isolated)
        circuit.close()
        #expect(self.refusal() == nil)
    }

    @Test mutating func closingResetsTheCounts() throws {
        try record(good, failed)
        circuit.close()
        #expect(try record(failed) == nil)
        #expect(circuit.phase == .closed)
    }
}
