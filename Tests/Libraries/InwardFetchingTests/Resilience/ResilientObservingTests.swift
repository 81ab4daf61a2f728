import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

/// Tests the events that an observer receives for calls of an operation.
@Suite(.timeLimit(.minutes(5)))
struct ResilientObservingTests {
    private let clock = ManualClock()
    private let timer: TimerService
    private let observer = RecordingFetchObserver()

    init() {
        timer = TimerService(clock)
    }

    @Test func attemptsAndRetriesAreReportedInOrder() async {
        let database = Database(.failure(.busy), .success("Ada"))
        let slow = Query { [clock] id throws(DatabaseError) in
            clock.advance(by: .seconds(2))
            return try database.row(id)
        }
        let schedule = RetrySchedule(attempts: 3, baseDelay: .zero)
        let query = slow.retrying(schedule, timer: timer) { _ in .again }.observing(with: observer, timer: timer)
        #expect(await query.result(7) == .success("Ada"))
        #expect(
            observer.descriptions == [
                "the lookup finished an attempt with busy after 2.0 seconds",
                "the lookup is retried (attempt 2) after 0.0 seconds because of busy",
                "the lookup finished an attempt without an error after 2.0 seconds",
                "the lookup ended without an error after 4.0 seconds",
            ]
        )
    }

    /// An observer that wraps operations, and records them.
    private struct Surrounder: FetchObserver {
        @TaskLocal static var steps: [OperationStep] = []
        let name: String
        let journal: Journal

        func surroundOperation<Output: Sendable, Failure: Error>(
            _ step: OperationStep,
            _ work: () async throws(Failure) -> Output
        ) async throws(Failure) -> Output {
            journal.add("\(name): \(step) begins in \(Self.steps.count)")
            let outcome = await Self.$steps.withValue(Self.steps + [step]) {
                do throws(Failure) {
                    return Result<Output, Failure>.success(try await work())
                } catch {
                    return .failure(error)
                }
            }
            switch outcome {
            case .success: journal.add("\(name): \(step) succeeded")
            case .failure(let error): journal.add("\(name): \(step) failed with \(error)")
            }
            return try outcome.get()
        }
    }

    @Test func outermostObserverWrapsCallsAndAttemptsFirst() async {
        let journal = Journal()
        let schedule = RetrySchedule(attempts: 2, baseDelay: .zero)
        let query = Database(.failure(.busy), .success("Ada")).query
            .retrying(schedule, timer: timer) { _ in .again }
            .observing(with: Surrounder(name: "inner", journal: journal), timer: timer)
            .observing(with: Surrounder(name: "outer", journal: journal), timer: timer)
        #expect(await query.result(7) == .success("Ada"))
        let (call, attempt) = (OperationStep.call("the lookup"), OperationStep.attempt("the lookup"))
        #expect(
            journal.entries == [
                "outer: \(call) begins in 0", "inner: \(call) begins in 1",
                "outer: \(attempt) begins in 2", "inner: \(attempt) begins in 3",
                "inner: \(attempt) failed with busy", "outer: \(attempt) failed with busy",
                "outer: \(attempt) begins in 2", "inner: \(attempt) begins in 3",
                "inner: \(attempt) succeeded", "outer: \(attempt) succeeded",
                "inner: \(call) succeeded", "outer: \(call) succeeded",
            ]
        )
    }

    /// A retry outside the observer knows that a rejected call was not started.
    @Test func wrappersReceiveErrorsOfDecoratorsAsErrorsOfTheOperation() async {
        let journal = Journal()
        let policy = CircuitBreakerPolicy(window: .calls(1), minimumCalls: 1, failureRateThreshold: 1, probes: 1)
        let breaker = CircuitBreaker("database", policy: policy, timer: timer)
        let query = Database(.failure(.busy), .success("Ada")).query
            .breakingCircuit(breaker) { $0 == .busy }
            .observing(with: Surrounder(name: "it", journal: journal), timer: timer)
            .fallingBack(to: "nobody") { $0.resilience?.wasStarted == false }
        _ = await query.result(1)
        #expect(await query.result(2) == .success("nobody"))
        #expect(journal.entries.last?.contains("failed with unavailable") == true)
    }

    @Test func transitionsAndRejectionsAreReported() async {
        let policy = CircuitBreakerPolicy(window: .calls(1), minimumCalls: 1, failureRateThreshold: 1, probes: 1)
        let breaker = CircuitBreaker("database", policy: policy, timer: timer)
        let query = Database(.failure(.busy), .success("Ada")).query
            .breakingCircuit(breaker) { $0 == .busy }
            .observing(with: observer, timer: timer)
        _ = await query.result(1)
        let rejection = await query.result(2).failure?.resilience
        clock.advance(by: .seconds(10))
        _ = await query.result(3)
        #expect(
            observer.descriptions == [
                "the lookup finished an attempt with busy after 0.0 seconds",
                "The circuit database went from closed to open", "the lookup ended with busy after 0.0 seconds",
                "the lookup was rejected: it \(rejection?.explanation ?? "")",
                "the lookup ended with \(DatabaseError.unavailable(rejection ?? .init(.rejected, operation: "", explanation: ""))) after 0.0 seconds",
                "The circuit database went from open to half open",
                "the lookup finished an attempt without an error after 0.0 seconds",
                "The circuit database went from half open to closed",
                "the lookup ended without an error after 0.0 seconds",
            ]
        )
    }

    @Test func fallbacksAreReportedWhenTheyAnswer() async {
        let primary = Database(.failure(.busy)).query
        let replica = Query("the replica", failure: DatabaseError.unavailable) { _ throws(DatabaseError) in "Eve" }
        let query = primary.fallingBack(to: replica) { _ in true }.observing(with: observer, timer: timer)
        #expect(await query.result(7) == .success("Eve"))
        let fixed = primary.fallingBack(to: "nobody") { _ in true }.observing(with: observer, timer: timer)
        #expect(await fixed.result(7) == .success("nobody"))
        #expect(
            observer.descriptions == [
                "the lookup finished an attempt with busy after 0.0 seconds",
                "the replica finished an attempt without an error after 0.0 seconds",
                "the lookup fell back because of busy", "the lookup ended without an error after 0.0 seconds",
                "the lookup finished an attempt with busy after 0.0 seconds",
                "the lookup fell back because of busy", "the lookup ended without an error after 0.0 seconds",
            ]
        )
    }

    @Test func joinedCallsAreReported() async {
        let gate = Gate()
        let query = Query { _ throws(DatabaseError) in
            _ = await gate.pass()
            return "Ada"
        }
        .coalescing().observing(with: observer, timer: timer)
        let calls = (0..<2).map { _ in Task.waiting { await query.result(7) } }
        gate.open()
        for call in calls { #expect(await call.value == .success("Ada")) }
        #expect(
            observer.descriptions.sorted() == [
                "the lookup ended without an error after 0.0 seconds",
                "the lookup ended without an error after 0.0 seconds",
                "the lookup finished an attempt without an error after 0.0 seconds", "the lookup joined an equal call",
            ]
        )
    }

    @Test func rejectionsByLimitersAreReported() async {
        let limiter = RateLimiter(1, per: .seconds(10), waitingAtMost: .zero, timer: timer)
        let query = Database(.success("Ada")).query.limitingRate(to: limiter).observing(with: observer, timer: timer)
        _ = await query.result(1)
        let rejection = await query.result(2).failure?.resilience
        #expect(observer.descriptions.contains("the lookup was rejected: it \(rejection?.explanation ?? "")"))
    }

    @Test func secondAttemptsAreReported() async throws {
        let (gate, scheduler) = (Gate(), DeterministicScheduler(seed: 7))
        let query = Query { [scheduler] id throws(DatabaseError) in
            try? await scheduler.clock.sleep(for: .seconds(5))
            return "Ada"
        }
        .hedging(after: .fixed(.seconds(1)), upTo: 1, timer: scheduler.timer)
        .observing(with: observer, timer: scheduler.timer)
        try await scheduler.run { _ = await query.result(7) }
        gate.open()
        #expect(observer.descriptions.filter { $0 == "the lookup was hedged" }.count == 1)
    }

    @Test func innerObserverIsNotifiedFirstAndOnlyOfInnerLayers() async {
        let inner = RecordingFetchObserver(named: "inner", sharing: observer)
        let outer = RecordingFetchObserver(named: "outer", sharing: observer)
        let schedule = RetrySchedule(attempts: 2, baseDelay: .zero)
        let query = Database(.failure(.busy), .success("Ada")).query
            .observing(with: inner, timer: timer)
            .retrying(schedule, timer: timer) { _ in .again }
            .observing(with: outer, timer: timer)
        _ = await query.result(7)
        let names = observer.descriptions.map { $0.split(separator: ":")[0] }
        #expect(names == ["inner", "outer", "inner", "outer", "inner", "outer", "inner", "outer"])
        #expect(observer.descriptions.filter { $0.contains("is retried") }.map { $0.hasPrefix("outer") } == [true])
    }

    @Test func nothingIsReportedWithoutAnObserver() async {
        let query = Database(.success("Ada")).query.observing(with: nil)
        #expect(await query.result(7) == .success("Ada"))
    }

    @Test func manualTransitionsAreReportedToTheGivenObserver() {
        let breaker = CircuitBreaker("database", timer: timer)
        breaker.isolate()
        breaker.close(telling: observer)
        breaker.close(telling: observer)
        breaker.isolate(telling: observer)
        #expect(
            observer.descriptions == [
                "The circuit database went from isolated to closed",
                "The circuit database went from closed to isolated",
            ]
        )
    }
}
