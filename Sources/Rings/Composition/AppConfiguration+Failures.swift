import InwardCore
import InwardFetching
import InwardTransfers

extension AppConfiguration {
    /// The handler of failures that no caller receives: repeats are dropped first, then it is written, then reported.
    ///
    /// - Parameters:
    ///   - writeError: Takes a line about each; `nil` to write none.
    ///   - isWritten: Which of them are written.
    ///   - dataFetcher: What carries reports to the collector, if there is one.
    ///   - clock: What tells how long a repeat is one.
    /// - Returns: the outermost handler.
    func makeErrorHandler(
        writeError: (@Sendable (String) -> Void)?,
        where isWritten: @escaping @Sendable (any Error) -> Bool,
        dataFetcher: any DataFetcher,
        clock: some Clock<Duration>
    ) -> any ErrorHandler {
        var handler: any ErrorHandler = IgnoringErrorHandler()
        if let errorCollector {
            let saver = PostingDataSaver(url: errorCollector, dataFetcher: dataFetcher)
            handler = handler.reporting(through: saver)
        }
        if let writeError { handler = handler.writing(to: writeError, where: isWritten) }
        return handler.droppingRepeats(within: .seconds(60), clock: clock)
    }
}
