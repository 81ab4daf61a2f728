import Testing
import Thoroughness

@testable import InwardFetching

/// Everything that can happen to a circuit in a number of steps, in every order.
struct CircuitStateExplorationTests {
    private static let policy = CircuitBreakerPolicy(
        window: .calls(2),
        minimumCalls: 2,
        failureShare: 0.5,
        openDuration: .milliseconds(2),
        largestOpenDuration: .milliseconds(4),
        probes: 2,
        failures: FailureCriteria()
    )

    /// A circuit, and what is under way through it.
    private struct Place: Hashable {
        var circuit = CircuitState(policy: policy, title: "")
        var now = Duration.zero
        var passes: [CircuitState.Pass] = []

        /// The probes that count.
        var probes: Int { passes.count { $0.round == circuit.round && $0.generation == circuit.generation } }

        /// How many requests a half-open circuit lets through now, one after the other.
        var room: Int {
            var circuit = circuit
            var room = 0
            while (try? circuit.admit(at: now)) != nil, circuit.generation == self.circuit.generation { room += 1 }
            return room
        }
    }

    private enum Step {
        case admit, succeed(Int), fail(Int), giveBack(Int), lose(Int), wait, isolate, close
    }

    private func steps(from place: Place) -> [Step] {
        var steps: [Step] = [.admit, .wait, .isolate, .close]
        for index in place.passes.indices {
            steps += [.succeed(index), .fail(index), .giveBack(index), .lose(index)]
        }
        return steps
    }

    /// Where a step leads; what is wrong with that is added to the violations.
    private func place(behind step: Step, from place: Place, _ violations: inout Set<String>) -> Place {
        var next = place
        switch step {
        case .admit:
            admit(&next, &violations)
        case .succeed(let index), .fail(let index):
            let pass = next.passes.remove(at: index)
            var isFailure = false
            if case .fail = step { isFailure = true }
            let change = next.circuit.record(CallOutcome(isFailure: isFailure), of: pass, at: next.now)
            let phases = CircuitChange(from: place.circuit.phase, to: next.circuit.phase)
            if change != (phases.from == phases.to ? nil : phases) { violations.insert("a change is told wrongly") }
            if pass.generation != place.circuit.generation, next.circuit != place.circuit {
                violations.insert("an old pass changes something")
            }
        case .giveBack(let index):
            let pass = next.passes.remove(at: index)
            next.circuit.giveBack(pass)
            let counts = pass.round == place.circuit.round && pass.generation == place.circuit.generation
            // Later on those under way are given up anyway.
            let isInTime = place.circuit.phase == .halfOpen && place.circuit.timeLeft(at: place.now) > .zero
            if isInTime, next.room != place.room + (counts ? 1 : 0) {
                violations.insert("a place is lost or doubled")
            }
        case .lose(let index):
            next.passes.remove(at: index)
        case .wait:
            next.now += .milliseconds(1)
        case .isolate:
            next.circuit.isolate()
        case .close:
            next.circuit.close()
        }
        return next
    }

    private func admit(_ place: inout Place, _ violations: inout Set<String>) {
        let before = place.circuit.phase
        do throws(CircuitRefusal) {
            let pass = try place.circuit.admit(at: place.now)
            let phases = CircuitChange(from: before, to: place.circuit.phase)
            if pass.change != (phases.from == phases.to ? nil : phases) {
                violations.insert("a change is told wrongly")
            }
            if pass.isProbe != (place.circuit.phase == .halfOpen) { violations.insert("a probe is none") }
            place.passes.append(CircuitState.Pass(generation: pass.generation, round: pass.round))
        } catch {
            if before == .closed { violations.insert("a closed circuit refuses") }
            if before != place.circuit.phase { violations.insert("a refusal changes something") }
            if place.circuit.phase == .open, error.retryAfter != .delay(place.circuit.timeLeft(at: place.now)) {
                violations.insert("the time left is told wrongly")
            }
        }
    }

    /// What is wrong wherever one comes from.
    private func check(_ place: Place, _ violations: inout Set<String>) {
        let circuit = place.circuit
        if place.probes > Self.policy.probes { violations.insert("too many probes are under way") }
        if circuit.phase != .halfOpen, place.probes > 0 { violations.insert("probes count while there are none") }
        let left = circuit.timeLeft(at: place.now)
        if circuit.phase == .open {
            if left > Self.policy.largestOpenDuration { violations.insert("it is open for too long") }
            var early = circuit
            if left > .zero, (try? early.admit(at: place.now + left - .nanoseconds(1))) != nil {
                violations.insert("it lets somebody through too early")
            }
            var later = circuit
            let pass = try? later.admit(at: place.now + left)
            if pass?.change != CircuitChange(from: .open, to: .halfOpen) { violations.insert("it stays open") }
        }
        if circuit.phase != .isolated, !recovers(place) { violations.insert("it is stuck while \(circuit.phase)") }
    }

    /// Whether it closes as soon as the source is well again, even if nobody comes back who is under way.
    private func recovers(_ place: Place) -> Bool {
        var circuit = place.circuit
        let later = place.now + Self.policy.largestOpenDuration
        for _ in 0..<Self.policy.probes where circuit.phase != .closed {
            guard let pass = try? circuit.admit(at: later) else { return false }
            _ = circuit.record(CallOutcome(isFailure: false), of: pass, at: later)
        }
        return circuit.phase == .closed
    }

    @Test func whateverHappensInWhateverOrderItNeitherSticksNorLetsTooManyThrough() {
        var violations: Set<String> = []
        var seen: Set<Place> = [Place()]
        var places = Array(seen)
        var phases: [CircuitPhase: Int] = [:]
        let depth = Thoroughness.isExhaustive ? 12 : 9
        for _ in 0..<depth {
            var next: [Place] = []
            for place in places {
                for step in steps(from: place) {
                    let reached = self.place(behind: step, from: place, &violations)
                    guard seen.insert(reached).inserted else { continue }
                    check(reached, &violations)
                    phases[reached.circuit.phase, default: 0] += 1
                    next.append(reached)
                }
            }
            places = next
        }
        #expect(violations == [])
        // It got around.
        for phase in [CircuitPhase.closed, .open, .halfOpen, .isolated] {
            #expect(phases[phase, default: 0] > (Thoroughness.isExhaustive ? 500 : 50))
        }
    }
}
