import Testing
import Thoroughness

@testable import InwardFetching

/// An exploration of all sequences of steps of a circuit, up to a length.
struct CircuitStateMachineExplorationTests {
    private static let policy = CircuitBreakerPolicy(
        window: .calls(2),
        minimumCalls: 2,
        failureRateThreshold: 0.5,
        openDuration: .milliseconds(2),
        maximumOpenDuration: .milliseconds(4),
        probes: 2,
        failures: FailureCriteria()
    )

    /// A circuit, and the permits under way.
    private struct Node: Hashable {
        var circuit = CircuitStateMachine(policy: policy, title: "")
        var now = Duration.zero
        var permits: [CircuitStateMachine.Permit] = []

        /// The number of probes whose outcome counts.
        var probes: Int { permits.count { $0.round == circuit.round && $0.generation == circuit.generation } }

        /// The number of probes that a half-open circuit permits now, without an outcome.
        var room: Int {
            var circuit = circuit
            var room = 0
            while (try? circuit.admit(at: now)) != nil, circuit.generation == self.circuit.generation { room += 1 }
            return room
        }
    }

    private enum Step {
        case admit, succeed(Int), fail(Int), release(Int), lose(Int), wait, isolate, close
    }

    private func steps(from node: Node) -> [Step] {
        var steps: [Step] = [.admit, .wait, .isolate, .close]
        for index in node.permits.indices {
            steps += [.succeed(index), .fail(index), .release(index), .lose(index)]
        }
        return steps
    }

    /// Returns the node that a step leads to, and records violations.
    private func node(after step: Step, from node: Node, _ violations: inout Set<String>) -> Node {
        var next = node
        switch step {
        case .admit:
            admit(&next, &violations)
        case .succeed(let index), .fail(let index):
            let permit = next.permits.remove(at: index)
            var isFailure = false
            if case .fail = step { isFailure = true }
            let change = next.circuit.record(CallOutcome(isFailure: isFailure), of: permit, at: next.now)
            let phases = CircuitChange(from: node.circuit.phase, to: next.circuit.phase)
            if change != (phases.from == phases.to ? nil : phases) { violations.insert("a transition is wrong") }
            if permit.generation != node.circuit.generation, next.circuit != node.circuit {
                violations.insert("a permit of an earlier generation has an effect")
            }
        case .release(let index):
            let permit = next.permits.remove(at: index)
            next.circuit.release(permit)
            let counts = permit.round == node.circuit.round && permit.generation == node.circuit.generation
            // After that time, the next request takes the permits of probes under way anyway.
            let isInTime = node.circuit.phase == .halfOpen && node.circuit.timeLeft(at: node.now) > .zero
            if isInTime, next.room != node.room + (counts ? 1 : 0) {
                violations.insert("a permit is lost or duplicated")
            }
        case .lose(let index):
            next.permits.remove(at: index)
        case .wait:
            next.now += .milliseconds(1)
        case .isolate:
            next.circuit.isolate()
        case .close:
            next.circuit.close()
        }
        return next
    }

    private func admit(_ node: inout Node, _ violations: inout Set<String>) {
        let before = node.circuit.phase
        do throws(CircuitRejection) {
            let permit = try node.circuit.admit(at: node.now)
            let phases = CircuitChange(from: before, to: node.circuit.phase)
            if permit.change != (phases.from == phases.to ? nil : phases) {
                violations.insert("a transition is wrong")
            }
            if permit.isProbe != (node.circuit.phase == .halfOpen) { violations.insert("a probe is not marked") }
            node.permits.append(CircuitStateMachine.Permit(generation: permit.generation, round: permit.round))
        } catch {
            if before == .closed { violations.insert("a closed circuit rejects") }
            if before != node.circuit.phase { violations.insert("a rejection changes the circuit") }
            if node.circuit.phase == .open, error.retryAfter != .delay(node.circuit.timeLeft(at: node.now)) {
                violations.insert("the remaining time is wrong")
            }
        }
    }

    /// Records violations of the invariants that every node must satisfy.
    private func check(_ node: Node, _ violations: inout Set<String>) {
        let circuit = node.circuit
        if node.probes > Self.policy.probes { violations.insert("too many probes are under way") }
        if circuit.phase != .halfOpen, node.probes > 0 { violations.insert("probes count unless half open") }
        let left = circuit.timeLeft(at: node.now)
        if circuit.phase == .open {
            if left > Self.policy.maximumOpenDuration { violations.insert("it is open for longer than the maximum") }
            var early = circuit
            if left > .zero, (try? early.admit(at: node.now + left - .nanoseconds(1))) != nil {
                violations.insert("it permits a request too early")
            }
            var later = circuit
            let permit = try? later.admit(at: node.now + left)
            if permit?.change != CircuitChange(from: .open, to: .halfOpen) { violations.insert("it stays open") }
        }
        if circuit.phase != .isolated, !recovers(node) { violations.insert("it is stuck while \(circuit.phase)") }
    }

    /// Returns whether the circuit closes when the upstream works again, even if no request under way ever ends.
    private func recovers(_ node: Node) -> Bool {
        var circuit = node.circuit
        let later = node.now + Self.policy.maximumOpenDuration
        for _ in 0..<Self.policy.probes where circuit.phase != .closed {
            guard let permit = try? circuit.admit(at: later) else { return false }
            _ = circuit.record(CallOutcome(isFailure: false), of: permit, at: later)
        }
        return circuit.phase == .closed
    }

    @Test func noSequenceOfStepsGetsStuckOrPermitsTooManyProbes() {
        var violations: Set<String> = []
        var seen: Set<Node> = [Node()]
        var nodes = Array(seen)
        var phases: [CircuitPhase: Int] = [:]
        let depth = Thoroughness.isExhaustive ? 12 : 9
        for _ in 0..<depth {
            var next: [Node] = []
            for node in nodes {
                for step in steps(from: node) {
                    let reached = self.node(after: step, from: node, &violations)
                    guard seen.insert(reached).inserted else { continue }
                    check(reached, &violations)
                    phases[reached.circuit.phase, default: 0] += 1
                    next.append(reached)
                }
            }
            nodes = next
        }
        #expect(violations == [])
        // The exploration reached every phase.
        for phase in [CircuitPhase.closed, .open, .halfOpen, .isolated] {
            #expect(phases[phase, default: 0] > (Thoroughness.isExhaustive ? 500 : 50))
        }
    }
}
