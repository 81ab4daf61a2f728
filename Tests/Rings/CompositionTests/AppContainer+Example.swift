import Composition
import InwardFetching
import InwardTesting

extension AppContainer {
    /// Creates an app over a test double, with a clock that only the test advances.
    static func example(
        _ dataFetcher: any DataFetcher = Source.recording(),
        _ configuration: AppConfiguration = .sample,
        clock: ManualClock = ManualClock(),
        writeError: (@Sendable (String) -> Void)? = nil
    ) async throws -> AppContainer {
        try await AppContainer(configuration, dataFetcher: dataFetcher, clock: clock, writeError: writeError)
    }
}
