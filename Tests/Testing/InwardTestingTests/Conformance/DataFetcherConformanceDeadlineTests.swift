import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DataFetcherConformanceDeadlineTests {
    private enum Flaw {
        case none, promisesNothing, waitsForCancellation, asksWithoutTime, givesUpEarly, answersLate, failsOtherwise
    }

    /// A fetcher that does what it says about deadlines, but for a flaw.
    private struct Example: DataFetcher {
        let flaw: Flaw
        let timer: TimerService

        var honorsDeadlines: Bool { flaw != .promisesNothing }

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            let deadline = Deadline.current
            if flaw != .asksWithoutTime, deadline?.hasPassed == true { throw error(.timedOut, request) }
            guard request.url.lastPathComponent == "silence" else { return DataResponse() }
            do {
                var end = timer.now + (deadline?.remaining ?? .seconds(1_000_000))
                if flaw == .waitsForCancellation || flaw == .promisesNothing { end += .seconds(1_000_000) }
                if flaw == .givesUpEarly { end -= .milliseconds(1) }
                try await timer.sleep(until: end)
            } catch {
                throw self.error(.cancelled, request)
            }
            if flaw == .answersLate { return DataResponse() }
            throw error(flaw == .failsOtherwise ? .interrupted : .timedOut, request)
        }

        private func error(_ reason: FetchError.Reason, _ request: DataRequest) -> FetchError {
            FetchError(reason, request: request, explanation: "failed")
        }
    }

    /// What is found wrong with a fetcher under a deadline, and how much time that took.
    private func findings(_ flaw: Flaw) async throws -> (violations: [String], time: Duration) {
        let scheduler = DeterministicScheduler(seed: 7)
        let address = try #require(URL(string: "http://upstream.test/"))
        let conformance = DataFetcherConformance(
            exchanges: [DataFetcherExchange(DataRequest(url: address), DataResponse())],
            unanswered: DataRequest(url: address.appending(path: "silence")),
            impossible: [DataRequest(url: URL(filePath: "/"))],
            lacking: Set(DataFetcherConformance.Requirement.allCases)
        )
        let violations = try await scheduler.run { () -> [String] in
            do throws(ConformanceFailure) {
                try await conformance.check(Example(flaw: flaw, timer: scheduler.timer), timer: scheduler.timer)
                return []
            } catch {
                return error.violations
            }
        }
        return (violations.filter { $0.contains("deadline") }, scheduler.timer.now)
    }

    @Test func whoEndsAtTheDeadlineConforms() async throws {
        let findings = try await findings(.none)
        #expect(findings.violations == [])
        // Half of it passes before the fetch is cancelled.
        #expect(findings.time == .milliseconds(100))
    }

    @Test func whoPromisesNothingIsHeldToNothing() async throws {
        let findings = try await findings(.promisesNothing)
        #expect(findings.violations == [])
        // Before the fetch is cancelled.
        #expect(findings.time == .milliseconds(50))
    }

    @Test func whoWaitsToBeCancelledIsFound() async throws {
        let findings = try await findings(.waitsForCancellation)
        #expect(
            findings.violations == [
                "GET http://upstream.test/silence must end as timedOut at its deadline, and failed as cancelled."
            ]
        )
        #expect(findings.time == .milliseconds(10_100))
    }

    @Test(arguments: [
        (Flaw.asksWithoutTime, "GET http://upstream.test/ must end as timedOut at its deadline, and was answered."),
        (.givesUpEarly, "GET http://upstream.test/silence must end as timedOut at its deadline, and did before."),
        (
            .failsOtherwise,
            "GET http://upstream.test/silence must end as timedOut at its deadline, and failed as interrupted."
        ),
        (.answersLate, "GET http://upstream.test/silence must end as timedOut at its deadline, and was answered."),
    ])
    private func whoDoesNotKeepItsPromiseIsFound(flaw: Flaw, violation: String) async throws {
        #expect(try await findings(flaw).violations == [violation])
    }
}
