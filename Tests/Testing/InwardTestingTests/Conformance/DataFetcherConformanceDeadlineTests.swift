import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DataFetcherConformanceDeadlineTests {
    private enum Flaw {
        case none, ignoresDeadlines, waitsForCancellation, sendsWithoutTime
        case timesOutEarly, answersLate, failsDifferently
    }

    /// A fetcher that honors deadlines, with at most one flaw.
    private struct Example: DataFetcher {
        let flaw: Flaw
        let timer: TimerService

        var honorsDeadlines: Bool { flaw != .ignoresDeadlines }

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            let deadline = Deadline.current
            if flaw != .sendsWithoutTime, deadline?.hasPassed == true { throw error(.timedOut, request) }
            guard request.url.lastPathComponent == "silence" else { return DataResponse() }
            do {
                var end = timer.now + (deadline?.remaining ?? .seconds(1_000_000))
                if flaw == .waitsForCancellation || flaw == .ignoresDeadlines { end += .seconds(1_000_000) }
                if flaw == .timesOutEarly { end -= .milliseconds(1) }
                try await timer.sleep(until: end)
            } catch {
                throw self.error(.cancelled, request)
            }
            if flaw == .answersLate { return DataResponse() }
            throw error(flaw == .failsDifferently ? .interrupted : .timedOut, request)
        }

        private func error(_ reason: FetchError.Reason, _ request: DataRequest) -> FetchError {
            FetchError(reason, request: request, explanation: "failed")
        }
    }

    /// Returns the violations of a fetcher under a deadline, and the time that the check took.
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

    @Test func fetcherThatTimesOutAtTheDeadlineConforms() async throws {
        let findings = try await findings(.none)
        #expect(findings.violations == [])
        // Half of the time passes before the fetch is cancelled.
        #expect(findings.time == .milliseconds(100))
    }

    @Test func fetcherThatDoesNotHonorDeadlinesIsNotChecked() async throws {
        let findings = try await findings(.ignoresDeadlines)
        #expect(findings.violations == [])
        // The time before the fetch is cancelled.
        #expect(findings.time == .milliseconds(50))
    }

    @Test func fetcherThatWaitsForCancellationIsFound() async throws {
        let findings = try await findings(.waitsForCancellation)
        #expect(
            findings.violations == [
                "GET http://upstream.test/silence must fail as timedOut at its deadline, but failed as cancelled."
            ]
        )
        #expect(findings.time == .milliseconds(10_100))
    }

    @Test(arguments: [
        (Flaw.sendsWithoutTime, "GET http://upstream.test/ must fail as timedOut at its deadline, but was answered."),
        (
            .timesOutEarly,
            "GET http://upstream.test/silence must fail as timedOut at its deadline, but did so too early."
        ),
        (
            .failsDifferently,
            "GET http://upstream.test/silence must fail as timedOut at its deadline, but failed as interrupted."
        ),
        (.answersLate, "GET http://upstream.test/silence must fail as timedOut at its deadline, but was answered."),
    ])
    private func eachFlawIsFound(flaw: Flaw, violation: String) async throws {
        #expect(try await findings(flaw).violations == [violation])
    }
}
