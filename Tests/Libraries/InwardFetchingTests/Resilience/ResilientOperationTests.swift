import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResilientOperationTests {
    @Test func resultsAreReturned() async throws {
        let database = Database(.success("Ada"), .failure(.notFound))
        let query = database.query
        #expect(try await query(7) == "Ada")
        #expect(await query.result(8) == .failure(.notFound))
        #expect(database.asked == [7, 8])
    }

    @Test func errorsOfDecoratorsBecomeErrorsOfTheOperation() async {
        let database = Database(.success("Ada"))
        let error = await database.query.timingOut(after: .zero).result(7).failure
        #expect(
            error?.resilience
                == ResilienceError(
                    .timedOut,
                    operation: "the lookup",
                    explanation: "did not end within 0.0 seconds",
                    wasStarted: false
                )
        )
        #expect(error?.resilience?.description == "the lookup did not end within 0.0 seconds")
        #expect(database.asked.isEmpty)
    }

    @Test func untypedOperationsThrowErrorsOfDecorators() async throws {
        let query = ResilientOperation("it") { (id: Int) in
            guard id != 0 else { throw ExampleError("no such row") }
            return "\(id)"
        }
        #expect(try await query(7) == "7")
        await #expect(throws: ExampleError.self) { try await query(0) }
        let late = await #expect(throws: ResilienceError.self) { try await query.timingOut(after: .zero)(7) }
        #expect(late?.reason == .timedOut)
    }

    /// The decorators of a typical service. A rejection by an inner one is neither a failure of the database nor retried.
    @Test func decoratorsWorkTogether() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let breaker = CircuitBreaker(
            "database",
            policy: CircuitBreakerPolicy(window: .calls(2), minimumCalls: 2),
            timer: timer
        )
        let database = Database(.failure(.busy), .failure(.busy), .success("Ada"))
        let query = database.query.timingOut(after: .seconds(1), timer: timer).limitingConcurrency(to: 8)
            .breakingCircuit(breaker) { $0 == .busy }
            .retrying(RetrySchedule(attempts: 9, baseDelay: .zero), timer: timer) { _ in .again }
            .timingOut(after: .seconds(5), timer: timer)
            .coalescing()
            .fallingBack(to: "nobody") { $0 == .notFound }
        let error = await query.result(7).failure?.resilience
        #expect(error?.reason == .rejected)
        #expect(error?.description.contains("the circuit to database is open") == true)
        #expect(database.asked == [7, 7])
        clock.advance(by: .seconds(10))
        #expect(try await query(8) == "Ada")
        #expect(timer.count == 0)
    }
}
