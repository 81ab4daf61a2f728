import Foundation
import InwardFetching
import InwardTesting
import Testing
import Thoroughness

@Suite(.timeLimit(.minutes(5)))
struct DataFetcherConformanceTests {
    private let server: URL

    init() throws {
        server = try #require(URL(string: "http://upstream.test/api/"))
    }

    /// Returns the violations of a fetcher, with the setup that the documentation shows.
    private func violations(of flaw: FlawedDataFetcher.Flaw?) async throws -> [String] {
        let scheduler = DeterministicScheduler(seed: 7)
        let conformance = DataFetcherConformance(server: server, impossible: DataRequest(url: URL(filePath: "/")))
        return try await scheduler.run { () -> [String] in
            do throws(ConformanceFailure) {
                let fetcher = FlawedDataFetcher(flaw, timer: scheduler.timer)
                try await conformance.check(fetcher, timer: scheduler.timer)
                return []
            } catch {
                return error.violations
            }
        }
    }

    @Test func correctFetcherPasses() async throws {
        #expect(try await violations(of: nil) == [])
    }

    @Test(arguments: Thoroughness.sample(FlawedDataFetcher.findings, every: 13))
    func eachFlawIsFound(flaw: FlawedDataFetcher.Flaw, sentence: String) async throws {
        let found = try await violations(of: flaw)
        // By prefix, because violations of concurrent requests begin with “Concurrently”.
        #expect(found.contains { $0.hasPrefix(sentence) }, "\(found.prefix(8))")
        #expect(found.allSatisfy { !$0.hasPrefix("The exchanges must include") })
    }

    @Test func everyFlawHasAFinding() {
        #expect(Set(FlawedDataFetcher.findings.map(\.0)) == Set(FlawedDataFetcher.Flaw.allCases))
    }

    @Test func incompleteCheckFails() async throws {
        let conformance = DataFetcherConformance(exchanges: [], impossible: [])
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance.check(StubDataFetcher(DataResponse()))
        }
        let violations = failure?.violations ?? []
        #expect(violations.count == DataFetcherConformance.Requirement.allCases.count + 1)
        #expect(violations.contains { $0.contains("a response with a body of at least 1 MiB") })
        #expect(violations.contains { $0.contains("a request whose response begins but never ends") })
        #expect(violations.contains { $0.contains("a request that the fetcher cannot send") })
    }

    @Test(arguments: DataFetcherConformance.Requirement.allCases)
    func requirementListedAsLackingIsSkipped(requirement: DataFetcherConformance.Requirement) async throws {
        let all = Set(DataFetcherConformance.Requirement.allCases)
        let impossible = [DataRequest(url: server)]
        let lacking = DataFetcherConformance(exchanges: [], impossible: impossible, lacking: all)
        let fetcher = StubDataFetcher(failing: .invalidRequest)
        try await lacking.check(fetcher)
        let demanding = DataFetcherConformance(
            exchanges: [],
            impossible: impossible,
            lacking: all.subtracting([requirement])
        )
        let failure = await #expect(throws: ConformanceFailure.self) { try await demanding.check(fetcher) }
        #expect(failure?.violations.count == 1)
    }
}
