import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

@Suite(.timeLimit(.minutes(5)))
struct BreakingCircuitDataFetcherTests {
    /// Closes every circuit when it opens.
    private struct ClosingObserver: FetchObserver {
        let breaker: CircuitBreaker

        func circuitChanged(_ circuit: String, from old: String, to new: String) {
            if breaker.state == .open(remaining: .seconds(10)) { breaker.close() }
        }
    }

    private let clock = ManualClock()

    private func makeBreaker(_ name: String = "circuit", probes: Int = 1) -> CircuitBreaker {
        let policy = CircuitBreakerPolicy(window: .calls(4), minimumCalls: 2, probes: probes)
        return CircuitBreaker(name, policy: policy, timer: TimerService(clock))
    }

    /// Returns the outcomes of a number of requests in sequence: a status, or the reason of an error.
    private func outcomes(_ fetcher: some DataFetcher, _ count: Int) async throws -> [String] {
        var outcomes: [String] = []
        let request = try DataRequest.example()
        for _ in 0..<count {
            do throws(FetchError) {
                outcomes.append("\(try await fetcher.fetch(request).status.code)")
            } catch {
                outcomes.append("\(error.reason)")
            }
        }
        return outcomes
    }

    @Test func responsesAndErrorsAreReturnedUnchanged() async throws {
        let answer = DataResponse(status: 404, headerFields: [HeaderField(.accept, "x")])
        let source = RecordingDataFetcher(ScriptedDataFetcher([.answer(answer), .failure(.timedOut)]))
        let fetcher = source.breakingCircuit(.standard)
        let request = try DataRequest.example()
        #expect(try await fetcher.fetch(request) == answer)
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(error == FetchError(.timedOut, request: request, explanation: "failed as the script says"))
        #expect(source.requests == [request, request])
    }

    @Test func nothingIsSentWhileTheCircuitIsOpen() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(failing: .unreachable))
        let fetcher = source.breakingCircuit(makeBreaker())
        #expect(try await outcomes(fetcher, 4) == ["unreachable", "unreachable", "rejected", "rejected"])
        #expect(source.requests.count == 2)
        clock.advance(by: .seconds(4))
        let request = try DataRequest.example()
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        let expected = FetchError(
            .rejected,
            request: request,
            explanation: "was not sent: the circuit is open, because 2 of the last 2 requests failed",
            retryAfter: .delay(.seconds(6))
        )
        #expect(error == expected)
        #expect(error?.canRetry == true)
    }

    @Test func serverErrorIsAFailure() async throws {
        let fetcher = StubDataFetcher(DataResponse(status: 503)).breakingCircuit(makeBreaker())
        #expect(try await outcomes(fetcher, 3) == ["503", "503", "rejected"])
    }

    @Test func failureCriteriaAreConfigurable() async throws {
        let policy = CircuitBreakerPolicy(minimumCalls: 1, failures: FailureCriteria(statuses: [404]))
        let script: [ScriptedDataFetcher.Step] = [
            .failure(.unreachable), .answer(DataResponse(status: 503)), .answer(DataResponse(status: 404)),
            .answer(DataResponse(status: 404)),
        ]
        let fetcher = ScriptedDataFetcher(script).breakingCircuit(CircuitBreaker(policy: policy))
        #expect(try await outcomes(fetcher, 5) == ["unreachable", "503", "404", "404", "rejected"])
    }

    @Test(arguments: [FetchError.Reason.cancelled, .closed, .rejected, .invalidRequest])
    func inconclusiveOutcomesAreNotCounted(reason: FetchError.Reason) async throws {
        let script: [ScriptedDataFetcher.Step] = [
            .failure(.unreachable), .failure(reason), .failure(reason), .failure(.unreachable),
        ]
        let breaker = makeBreaker()
        let fetcher = ScriptedDataFetcher(script).breakingCircuit(breaker)
        let outcomes = try await outcomes(fetcher, 4)
        #expect(outcomes == ["unreachable", "\(reason)", "\(reason)", "unreachable"])
        #expect(breaker.state == .open(remaining: .seconds(10)))
    }

    @Test func responseFromMemoryDoesNotCountAsASuccess() async throws {
        let breaker = makeBreaker()
        #expect(try await outcomes(StubDataFetcher(failing: .timedOut).breakingCircuit(breaker), 2).count == 2)
        clock.advance(by: .seconds(10))
        var kept = DataResponse()
        kept.origin = .memory
        #expect(
            try await outcomes(StubDataFetcher(kept).breakingCircuit(breaker), 5) == Array(repeating: "200", count: 5)
        )
        #expect(breaker.state == .halfOpen)
        #expect(try await outcomes(StubDataFetcher(DataResponse()).breakingCircuit(breaker), 1) == ["200"])
        #expect(breaker.state == .closed)
    }

    @Test func pipelinesWithTheSameBreakerShareItsState() async throws {
        let breaker = makeBreaker()
        let failing = StubDataFetcher(failing: .unreachable).breakingCircuit(breaker)
        let other = StubDataFetcher(DataResponse()).breakingCircuit(breaker)
        #expect(try await outcomes(failing, 2) == ["unreachable", "unreachable"])
        #expect(try await outcomes(other, 1) == ["rejected"])
        clock.advance(by: .seconds(10))
        #expect(try await outcomes(other, 1) == ["200"])
        #expect(try await outcomes(failing, 1) == ["unreachable"])
    }

    @Test func pipelinesWithTheStandardBreakerShareNothing() async throws {
        let failing = StubDataFetcher(failing: .unreachable)
        let first = failing.breakingCircuit(.standard)
        #expect(try await outcomes(first, 11).last == "rejected")
        #expect(try await outcomes(failing.breakingCircuit(.standard), 10).last == "unreachable")
        // A copy shares the breaker.
        #expect(try await outcomes(first.observing(with: RecordingCircuitObserver()), 1) == ["rejected"])
    }

    @Test func transitionsAndRejectionsAreReportedToTheObserver() async throws {
        let observer = RecordingCircuitObserver()
        let script: [ScriptedDataFetcher.Step] = [
            .failure(.unreachable), .failure(.unreachable), .failure(.timedOut), .answer(DataResponse()),
        ]
        let breaker = makeBreaker("users")
        let fetcher = ScriptedDataFetcher(script).breakingCircuit(breaker).observing(with: observer)
        #expect(try await outcomes(fetcher, 3).last == "rejected")
        clock.advance(by: .seconds(10))
        #expect(try await outcomes(fetcher, 1) == ["timedOut"])
        clock.advance(by: .seconds(20))
        #expect(try await outcomes(fetcher, 1) == ["200"])
        let refusal = "was not sent: the circuit to users is open, because 2 of the last 2 requests failed"
        #expect(
            observer.told == [
                "users: closed to open", "GET http://upstream.test/users \(refusal)", "users: open to half open",
                "users: half open to open", "users: open to half open", "users: half open to closed",
            ]
        )
    }

    @Test func observerMayReadAndChangeItsBreaker() async throws {
        let breaker = makeBreaker()
        let observer = ClosingObserver(breaker: breaker)
        let fetcher = StubDataFetcher(failing: .timedOut).breakingCircuit(breaker).observing(with: observer)
        #expect(try await outcomes(fetcher, 5) == Array(repeating: "timedOut", count: 5))
        #expect(breaker.state == .closed)
    }

    @Test func manualTransitionsAndThoseOfOtherPipelinesAreNotReported() async throws {
        let observer = RecordingCircuitObserver()
        let breaker = makeBreaker()
        let fetcher = StubDataFetcher(DataResponse()).breakingCircuit(breaker).observing(with: observer)
        #expect(try await outcomes(StubDataFetcher(failing: .timedOut).breakingCircuit(breaker), 2).count == 2)
        breaker.isolate()
        breaker.close()
        #expect(try await outcomes(fetcher, 1) == ["200"])
        #expect(observer.told == [])
    }

    @Test func layerDescriptionNamesTheCircuit() {
        let fetcher = StubDataFetcher(DataResponse()).breakingCircuit(CircuitBreaker("users"))
        #expect(fetcher.layer.kind == .circuitBreaker)
        #expect(fetcher.layer.description == "rejects requests while the circuit to users is open")
    }

    @Test func deadlinesAreHonoredIfTheWrappedFetcherHonorsThem() {
        struct Honoring: DataFetcher {
            var honorsDeadlines: Bool { true }
            func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { DataResponse() }
        }
        #expect(Honoring().breakingCircuit(.standard).honorsDeadlines)
        #expect(!StubDataFetcher(DataResponse()).breakingCircuit(.standard).honorsDeadlines)
    }
}
