import InwardCore
import InwardTesting
import Synchronization
import Testing

@testable import InwardFetching

/// Random walks of many concurrent tasks through one circuit breaker.
@Suite(.timeLimit(.minutes(5)))
struct CircuitBreakerWalkTests {
    /// The probes under way. An entry begins after its permit was issued and ends before it is returned.
    private final class Ledger: Sendable {
        private struct Entries {
            var underWay: [CircuitStateMachine.Permit: Int] = [:]
            var most = 0
            var total = 0
        }

        private let entries = Mutex(Entries())

        /// The maximum number of concurrent probes of one round. Probes that lost their permits belong to an earlier round.
        var most: Int { entries.withLock(\.most) }
        var total: Int { entries.withLock(\.total) }

        func begin(_ permit: CircuitStateMachine.Permit) {
            guard permit.isProbe else { return }
            entries.withLock { entries in
                entries.underWay[permit.sort, default: 0] += 1
                entries.most = max(entries.most, entries.underWay[permit.sort, default: 0])
                entries.total += 1
            }
        }

        func end(_ permit: CircuitStateMachine.Permit) {
            guard permit.isProbe else { return }
            entries.withLock { $0.underWay[permit.sort, default: 0] -= 1 }
        }
    }

    private static let probes = 3

    @Test(arguments: 1...20)
    func randomWalksNeverExceedTheProbeLimitAndAlwaysRecover(round: UInt64) async throws {
        let clock = ManualClock()
        let policy = CircuitBreakerPolicy(
            window: round % 2 == 0 ? .calls(8) : .time(.milliseconds(50)),
            minimumCalls: 4,
            slowCalls: round % 3 == 0 ? .init(.milliseconds(20)) : nil,
            openDuration: .milliseconds(10),
            maximumOpenDuration: .milliseconds(40),
            probes: Self.probes
        )
        let breaker = CircuitBreaker(policy: policy, timer: TimerService(clock))
        let ledger = Ledger()
        let seed = UInt64.random(in: 0 ... .max)
        await withTaskGroup { group in
            for walker in 0..<8 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(walker))
                    for _ in 0..<300 { await Self.step(breaker, clock, ledger, &random) }
                }
            }
        }
        #expect(ledger.most <= Self.probes, "The seed was \(seed).")
        #expect(ledger.total > 0, "The seed was \(seed).")
        clock.advance(by: .milliseconds(40))
        if breaker.state == .isolated { breaker.close() }
        for _ in 0..<Self.probes where breaker.state != .closed {
            let change = breaker.settle(try breaker.permit(), isFailure: false)
            #expect(change == nil || change?.to == .closed, "The seed was \(seed).")
        }
        #expect(breaker.state == .closed, "The seed was \(seed).")
        #expect(!(try breaker.permit().permit.isProbe), "The seed was \(seed).")
    }

    private static func step(
        _ breaker: CircuitBreaker,
        _ clock: ManualClock,
        _ ledger: Ledger,
        _ random: inout SplitMix64
    ) async {
        switch Int.random(in: 0..<200, using: &random) {
        case 0: breaker.isolate()
        case 1...3: breaker.close()
        case 4..<40: clock.advance(by: .milliseconds(Int.random(in: 1...6, using: &random)))
        default:
            guard let permit = try? breaker.permit() else { return await Task.yield() }
            ledger.begin(permit.permit)
            for _ in 0..<Int.random(in: 0..<6, using: &random) { await Task.yield() }
            ledger.end(permit.permit)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: break
            case 1: _ = breaker.settle(permit, isFailure: nil)
            case 2: _ = breaker.settle(permit, isFailure: true)
            default: _ = breaker.settle(permit, isFailure: false)
            }
        }
    }
}

extension CircuitStateMachine.Permit {
    /// The generation and round of a permit.
    fileprivate var sort: Self { Self(generation: generation, round: round) }
}
