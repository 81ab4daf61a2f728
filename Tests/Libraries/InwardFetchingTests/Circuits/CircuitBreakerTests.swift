import InwardCore
import Testing

@testable import InwardFetching

struct CircuitBreakerTests {
    private let clock = CountingClock()

    private func makeBreaker(
        window: CircuitBreakerPolicy.Window = .calls(4),
        slowCalls: CircuitBreakerPolicy.SlowCalls? = nil,
        probes: Int = 1
    ) -> CircuitBreaker {
        let policy = CircuitBreakerPolicy(window: window, minimumCalls: 2, slowCalls: slowCalls, probes: probes)
        return CircuitBreaker(policy: policy, timer: TimerService(clock))
    }

    /// Records the outcomes of a number of requests that end immediately, and returns the last transition.
    @discardableResult
    private func record(_ count: Int = 1, isFailure: Bool?, _ breaker: CircuitBreaker) throws -> CircuitChange? {
        var change: CircuitChange?
        for _ in 0..<count { change = breaker.settle(try breaker.permit(), isFailure: isFailure) }
        return change
    }

    @Test func eachAccessToStandardCreatesABreaker() throws {
        let breaker = CircuitBreaker.standard
        #expect(breaker !== CircuitBreaker.standard)
        #expect(breaker.policy == .standard)
        #expect(breaker.name == "circuit")
        breaker.isolate()
        #expect(CircuitBreaker.standard.state == .closed)
    }

    @Test func descriptionsAndRejectionsNameTheCircuit() {
        let breaker = CircuitBreaker("users")
        #expect(breaker.description == "the circuit to users is closed")
        breaker.isolate()
        #expect(breaker.description == "the circuit to users is isolated")
        let refusal = #expect(throws: CircuitRejection.self) { _ = try breaker.permit() }
        #expect(refusal?.explanation == "was not sent: the circuit to users is isolated")
        #expect(CircuitBreaker().description == "the circuit is closed")
    }

    @Test func stateFollowsTimeAndOutcomes() throws {
        let breaker = makeBreaker(probes: 2)
        #expect(breaker.state == .closed)
        try record(2, isFailure: true, breaker)
        #expect(breaker.state == .open(remaining: .seconds(10)))
        clock.advance(by: .seconds(4))
        #expect(breaker.state == .open(remaining: .seconds(6)))
        clock.advance(by: .seconds(400))
        #expect(breaker.state == .open(remaining: .zero))
        try record(isFailure: false, breaker)
        #expect(breaker.state == .halfOpen)
        try record(isFailure: false, breaker)
        #expect(breaker.state == .closed)
        breaker.isolate()
        #expect(breaker.state == .isolated)
    }

    @Test(arguments: [
        (CircuitBreaker.State.closed, "closed"), (.open(remaining: .seconds(1)), "open"), (.halfOpen, "half open"),
        (.isolated, "isolated"),
    ])
    func statesAreDescribedByTheirNames(state: CircuitBreaker.State, name: String) {
        #expect(state.description == name)
    }

    @Test func breakerCanBeIsolatedAndClosedManually() throws {
        let breaker = makeBreaker()
        breaker.isolate()
        clock.advance(by: .seconds(1_000_000))
        #expect(throws: CircuitRejection.self) { _ = try breaker.permit() }
        breaker.close()
        #expect(try record(isFailure: true, breaker) == nil)
        breaker.close()
        #expect(try record(isFailure: true, breaker) == nil)
        #expect(breaker.state == .closed)
        #expect(try record(isFailure: true, breaker) == CircuitChange(from: .closed, to: .open))
        breaker.close()
        #expect(try record(isFailure: false, breaker) == nil)
        #expect(breaker.state == .closed)
    }

    @Test func requestsInFlightDoNotCountAfterAManualClose() throws {
        let breaker = makeBreaker()
        let permit = try breaker.permit()
        try record(isFailure: true, breaker)
        breaker.close()
        try record(isFailure: true, breaker)
        #expect(breaker.settle(permit, isFailure: true) == nil)
        #expect(breaker.state == .closed)
    }

    @Test func slowRequestsOpenTheCircuit() throws {
        let breaker = makeBreaker(slowCalls: .init(.seconds(2)))
        for (seconds, opens) in [(1.999, false), (1.999, false), (2.0, false), (2.5, true)] {
            let permit = try breaker.permit()
            clock.advance(by: .seconds(seconds))
            let change = breaker.settle(permit, isFailure: false)
            #expect(change == (opens ? CircuitChange(from: .closed, to: .open) : nil))
        }
    }

    @Test func slowProbeReopensTheCircuit() throws {
        let breaker = makeBreaker(slowCalls: .init(.seconds(2)))
        try record(2, isFailure: true, breaker)
        clock.advance(by: .seconds(10))
        try record(isFailure: false, breaker)
        #expect(breaker.state == .closed)
        try record(2, isFailure: true, breaker)
        clock.advance(by: .seconds(10))
        let permit = try breaker.permit()
        clock.advance(by: .seconds(2))
        #expect(breaker.settle(permit, isFailure: false) == CircuitChange(from: .halfOpen, to: .open))
    }

    @Test func inconclusiveProbeReleasesItsPermit() throws {
        let breaker = makeBreaker()
        try record(2, isFailure: true, breaker)
        clock.advance(by: .seconds(10))
        for _ in 0..<100 {
            #expect(try breaker.permit().permit.isProbe)
            #expect(try record(isFailure: nil, breaker) == nil)
        }
        #expect(breaker.state == .halfOpen)
        #expect(try record(isFailure: false, breaker) == CircuitChange(from: .halfOpen, to: .closed))
    }

    @Test func successfulProbeDoesNotFreeItsPermit() throws {
        let breaker = makeBreaker(probes: 2)
        try record(2, isFailure: true, breaker)
        clock.advance(by: .seconds(10))
        let first = try breaker.permit()
        #expect(try record(isFailure: false, breaker) == nil)
        #expect(throws: CircuitRejection.self) { _ = try breaker.permit() }
        #expect(breaker.settle(first, isFailure: false) == CircuitChange(from: .halfOpen, to: .closed))
    }

    @Test func successInACountBasedWindowDoesNotReadTheClock() throws {
        let breaker = makeBreaker()
        let looks = clock.looks
        try record(10, isFailure: false, breaker)
        #expect(clock.looks == looks)
    }

    @Test func timeBasedWindowReadsTheClockOncePerCall() throws {
        let breaker = makeBreaker(window: .time(.seconds(10)))
        let looks = clock.looks
        try record(10, isFailure: false, breaker)
        #expect(clock.looks == looks + 10)
    }

    @Test func slowCallDetectionReadsTheClockTwicePerCall() throws {
        let breaker = makeBreaker(slowCalls: .init(.seconds(2)))
        let looks = clock.looks
        try record(10, isFailure: false, breaker)
        #expect(clock.looks == looks + 20)
    }

    @Test func rejectionReadsTheClockOnce() throws {
        let breaker = makeBreaker()
        try record(2, isFailure: true, breaker)
        let looks = clock.looks
        for _ in 0..<10 { #expect(throws: CircuitRejection.self) { _ = try breaker.permit() } }
        #expect(clock.looks == looks + 10)
    }

    @Test func callsExpireFromATimeBasedWindow() throws {
        let breaker = makeBreaker(window: .time(.seconds(10)))
        try record(isFailure: true, breaker)
        clock.advance(by: .seconds(10))
        #expect(try record(isFailure: true, breaker) == nil)
        clock.advance(by: .seconds(5))
        #expect(try record(isFailure: true, breaker) == CircuitChange(from: .closed, to: .open))
    }
}
