import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

/// Situations that kept other circuit breakers half open forever, or let too many probes through. The numbers are those of
/// issues of resilience4j.
@Suite(.timeLimit(.minutes(5)))
struct StuckCircuitTests {
    private let clock = ManualClock()

    /// Returns a breaker whose circuit is open, and ready to permit probes.
    private func makeOpenBreaker(probes: Int) async throws -> CircuitBreaker {
        let policy = CircuitBreakerPolicy(window: .calls(100), minimumCalls: 10, probes: probes)
        let breaker = CircuitBreaker(policy: policy, timer: TimerService(clock))
        let failing = StubDataFetcher(failing: .unreachable).breakingCircuit(breaker)
        for _ in 0..<10 { _ = try? await failing.fetch(.example()) }
        #expect(breaker.state == .open(remaining: .seconds(10)))
        clock.advance(by: .seconds(10))
        return breaker
    }

    /// Sends as many requests as a half-open circuit needs to close.
    private func recover(_ breaker: CircuitBreaker) async throws {
        let fetcher = StubDataFetcher(DataResponse()).breakingCircuit(breaker)
        for _ in 0..<breaker.policy.probes { _ = try await fetcher.fetch(.example()) }
        #expect(breaker.state == .closed)
    }

    // #544
    @Test(arguments: [FetchError.Reason.rejected, .closed, .cancelled])
    func inconclusiveErrorReleasesItsPermit(reason: FetchError.Reason) async throws {
        let breaker = try await makeOpenBreaker(probes: 2)
        let ignoring = StubDataFetcher(failing: reason).breakingCircuit(breaker)
        for _ in 0..<10 { await #expect(throws: FetchError.self) { try await ignoring.fetch(.example()) } }
        #expect(breaker.state == .halfOpen)
        try await recover(breaker)
    }

    // #903
    @Test func circuitClosesWithFewerProbesThanTheMinimumCalls() async throws {
        try await recover(makeOpenBreaker(probes: 1))
        try await recover(makeOpenBreaker(probes: 9))
    }

    // #935
    @Test func cancelledProbeReleasesItsPermit() async throws {
        let breaker = try await makeOpenBreaker(probes: 2)
        let arrived = Rendezvous(of: 3)
        let never = Rendezvous(of: 3)
        let source = StubDataFetcher { request throws(FetchError) in
            await arrived.arrive()
            await never.arrive()
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        let fetcher = source.breakingCircuit(breaker)
        await withThrowingTaskGroup { group in
            for _ in 0..<2 { group.addTask { try await fetcher.fetch(.example()) } }
            await arrived.arrive()
            #expect(throws: CircuitRejection.self) { _ = try breaker.permit() }
            group.cancelAll()
            while let result = await group.nextResult() {
                #expect(throws: FetchError.self) { try result.get() }
            }
        }
        #expect(breaker.state == .halfOpen)
        try await recover(breaker)
    }

    // #935
    @Test func unusedPermitIsReleased() async throws {
        let breaker = try await makeOpenBreaker(probes: 2)
        for _ in 0..<10 { _ = try breaker.permit() }
        try await recover(breaker)
    }

    // #1389
    @Test func probesThatNeverReturnLoseTheirPermits() async throws {
        let breaker = try await makeOpenBreaker(probes: 2)
        let arrived = Rendezvous(of: 3)
        let released = Rendezvous(of: 3)
        let hanging = StubDataFetcher { request throws(FetchError) in
            await arrived.arrive()
            await released.arrive()
            throw FetchError(.timedOut, request: request, explanation: "was not answered")
        }
        let fetcher = hanging.breakingCircuit(breaker)
        try await withThrowingTaskGroup { group in
            for _ in 0..<2 { group.addTask { try await fetcher.fetch(.example()) } }
            await arrived.arrive()
            clock.advance(by: .seconds(10) - .nanoseconds(1))
            #expect(throws: CircuitRejection.self) { _ = try breaker.permit() }
            clock.advance(by: .nanoseconds(1))
            try await recover(breaker)
            await released.arrive()
            while let result = await group.nextResult() { #expect(throws: FetchError.self) { try result.get() } }
        }
        // Their failures are too late to count, even in the closed circuit.
        #expect(breaker.state == .closed)
    }

    // #1432
    @Test(arguments: 1...20)
    func probeLimitHoldsDuringTransitions(round: Int) async throws {
        let breaker = try await makeOpenBreaker(probes: 3)
        // The circuit goes from open to half open and back, and then to closed.
        try await crowd(of: 24, through: breaker, 503)
        #expect(breaker.state == .open(remaining: .seconds(20)))
        clock.advance(by: .seconds(20))
        try await crowd(of: 24, through: breaker, .ok)
        #expect(breaker.state == .closed)
    }

    /// Sends many concurrent requests through a circuit that should permit three of them, which get their responses together.
    private func crowd(of count: Int, through breaker: CircuitBreaker, _ status: DataResponse.Status) async throws {
        let gate = Rendezvous(of: 4)
        let source = RecordingDataFetcher(
            StubDataFetcher { _ throws(FetchError) in
                await gate.arrive()
                return DataResponse(status: status)
            }
        )
        let fetcher = source.breakingCircuit(breaker)
        await withTaskGroup(of: FetchError.Reason?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        _ = try await fetcher.fetch(.example())
                        return nil
                    } catch {
                        return (error as? FetchError)?.reason
                    }
                }
            }
            // The probes wait until all others are rejected.
            for _ in 0..<count - 3 { #expect(await group.next() == .some(.rejected)) }
            await gate.arrive()
            for _ in 0..<3 { #expect(await group.next() == .some(nil)) }
        }
        #expect(source.requests.count == 3)
    }
}
