import Composition
import InwardFetching
import InwardTesting

extension AppContainer {
    /// An app over a double, in which no time passes unless a test says so.
    static func example(
        _ dataFetcher: any DataFetcher = Source.recording(),
        _ configuration: AppConfiguration = .sample,
        clock: ManualClock = ManualClock(),
        writeError: (@Sendable (String) -> Void)? = nil
    ) async throws -> AppContainer {
        try await AppContainer(configuration, dataFetcher: dataFetcher, clock: clock, writeError: writeError)
    }
}
