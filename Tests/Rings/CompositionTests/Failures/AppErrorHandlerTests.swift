import Composition
import Foundation
import InwardCore
import InwardFetching
import InwardScopes
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AppErrorHandlerTests {
    private struct Oops: Error, CustomStringConvertible {
        let description = "oops"
    }

    private let journal = Journal()

    @Test func descriptionListsTheHandlersInOrder() async throws {
        let plain = try await AppContainer()
        #expect(try plain.errorHandler.description == "can be replaced → drops repeats within 60.0 seconds → ends")
        let configuration = try AppConfiguration(errorCollector: "http://collector.test/errors")
        let app = try await AppContainer(configuration) { _ in }
        let chain = "can be replaced → drops repeats within 60.0 seconds → logs → reports in batches of 100 → ends"
        #expect(try app.errorHandler.description == chain)
        #expect(app.description.contains("errorHandler: \(chain)"))
    }

    @Test func failuresAreWrittenOnceAndReportedBeforeTheAppIsClosed() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .ok)))
        let configuration = try AppConfiguration(errorCollector: "http://collector.test/errors")
        let app = try await AppContainer.example(source, configuration) { [journal] in journal.add($0) }
        for _ in 1...3 { try app.errorHandler.handle(Oops()) }
        #expect(journal.entries == ["oops"])
        try await app.close()
        #expect(journal.entries == ["oops", "oops (and 2 times more within 60.0 seconds)"])
        #expect(Set(source.requests.map(\.description)) == ["POST http://collector.test/errors"])
        let reported = source.requests.compactMap(\.body).map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(reported == "oops\noops (and 2 times more within 60.0 seconds)\n")
    }

    @Test func unresponsiveCollectorDelaysClosingOnlyUpToTheLimit() async throws {
        let begun = Rendezvous(of: 2)
        let clock = ManualClock()
        let configuration = try AppConfiguration(errorCollector: "http://collector.test/errors")
        let app = try await AppContainer(configuration, dataFetcher: Source.silent(begun: begun), clock: clock)
        try app.errorHandler.handle(Oops())
        await begun.arrive()
        async let description = {
            do throws(ScopeCloseError) {
                try await app.close()
                return ""
            } catch {
                return error.description
            }
        }()
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await description == "app the built-in sample > errorHandler did not close in time.")
    }
}
