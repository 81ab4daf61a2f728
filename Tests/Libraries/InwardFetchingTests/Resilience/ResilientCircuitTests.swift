import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResilientCircuitTests {
    private let clock = ManualClock()
    private let timer: TimerService
    private let breaker: CircuitBreaker

    init() {
        timer = TimerService(clock)
        let policy = CircuitBreakerPolicy(window: .calls(2), minimumCalls: 2, failureRateThreshold: 1, probes: 1)
        breaker = CircuitBreaker("database", policy: policy, timer: timer)
    }

    private func breaking(_ query: Query) -> Query {
        query.breakingCircuit(breaker) { error in
            switch error {
            case .busy: true
            case .notFound: false
            case .unavailable: nil
            }
        }
    }

    @Test func openCircuitRejectsCallsUntilAProbeSucceeds() async throws {
        let database = Database(.failure(.busy), .failure(.busy), .success("Ada"))
        let query = breaking(database.query)
        for id in 1...2 { #expect(await query.result(id) == .failure(.busy)) }
        let error = await query.result(3).failure?.resilience
        #expect(error?.reason == .rejected)
        #expect(error?.wasStarted == false)
        #expect(error?.retryAfter == .seconds(10))
        #expect(
            error?.description
                == "the lookup was not sent: the circuit to database is open, because 2 of the last 2 requests failed"
        )
        #expect(database.asked == [1, 2])
        clock.advance(by: .seconds(10))
        #expect(try await query(4) == "Ada")
        #expect(breaker.state == .closed)
    }

    @Test func errorsOfAWorkingUpstreamAreNotFailures() async {
        let query = breaking(Database(.failure(.notFound)).query)
        for id in 1...9 { #expect(await query.result(id) == .failure(.notFound)) }
        #expect(breaker.state == .closed)
    }

    @Test func successesLowerTheFailureRate() async {
        let query = breaking(Database(.failure(.busy), .success("Ada"), .failure(.busy), .success("Ada")).query)
        for id in 1...4 { _ = await query.result(id) }
        #expect(breaker.state == .closed)
    }

    @Test func inconclusiveProbeReleasesItsPermit() async throws {
        let unknown = DatabaseError.unavailable(ResilienceError(.rejected, operation: "it", explanation: "was not"))
        let database = Database(
            .failure(.busy),
            .failure(.busy),
            .failure(unknown),
            .failure(unknown),
            .success("Ada")
        )
        let query = breaking(database.query)
        for id in 1...2 { _ = await query.result(id) }
        clock.advance(by: .seconds(10))
        for id in 3...4 { #expect(await query.result(id) == .failure(unknown)) }
        #expect(breaker.state == .halfOpen)
        #expect(try await query(5) == "Ada")
        #expect(breaker.state == .closed)
    }

    @Test func timeoutIsAFailureIfTheOperationWasStarted() async {
        let unstarted = breaking(Database(.success("Ada")).query.timingOut(after: .zero, timer: timer))
        for id in 1...9 { _ = await unstarted.result(id) }
        #expect(breaker.state == .closed)
        let hanging = Query { _ throws(DatabaseError) in
            _ = await Promise<Void>().value(until: nil)
            throw .notFound
        }
        let query = breaking(hanging.timingOut(after: .seconds(1), timer: timer))
        for _ in 1...2 {
            async let result = query.result(7)
            await timer.timers(1)
            clock.advance(by: .seconds(1))
            #expect(await result.failure?.resilience?.reason == .timedOut)
        }
        #expect(breaker.state == .open(remaining: .seconds(10)))
    }

    /// A cancelled call says nothing, unless a deadline cancelled it.
    @Test(arguments: [true, false])
    func cancellationIsAFailureIfADeadlineHasPassed(isLate: Bool) async {
        let query = breaking(
            Query { [clock] _ throws(DatabaseError) in
                if isLate { clock.advance(by: .seconds(1)) }
                throw .busy
            }
        )
        for id in 1...2 {
            let deadline = Deadline(in: .seconds(1), on: timer)
            _ = await deadline.carried {
                await withTaskGroup(of: Void.self) { group in
                    group.cancelAll()
                    group.addTask { _ = await query.result(id) }
                }
            }
        }
        #expect((breaker.state == .closed) == !isLate)
    }

    @Test func operationsAndDataFetchersShareABreaker() async throws {
        let request = try DataRequest.example()
        let fetcher = StubDataFetcher(failing: .unreachable).breakingCircuit(breaker)
        for _ in 1...2 { _ = await fetcher.reason(request) }
        #expect(await breaking(Database(.success("Ada")).query).result(7).failure?.resilience?.reason == .rejected)
    }
}
