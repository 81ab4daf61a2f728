import Foundation
import Synchronization

/// Reports `SIGINT` and `SIGTERM` instead of letting them terminate the process.
///
/// ```swift
/// for await _ in Interruptions.arriving() {
///     print("Stopping …")
///     break
/// }
/// ```
public final class Interruptions: Sendable {
    private static let numbers = [SIGINT, SIGTERM]

    // The lock only makes the class `Sendable`. A source may be cancelled from any thread.
    private let sources: Mutex<[any DispatchSourceSignal]>

    private init(reportingTo report: AsyncStream<Void>.Continuation) {
        sources = Mutex(
            Self.numbers.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler {
                    signal(number, SIG_DFL)
                    report.yield()
                }
                let registered = DispatchSemaphore(value: 0)
                source.setRegistrationHandler { registered.signal() }
                source.activate()
                // Signals that arrive before the registration would be lost.
                registered.wait()
                return source
            }
        )
    }

    /// Returns the interruptions from now on, for one reader.
    ///
    /// Only the first signal of each kind is reported. A second one terminates the process as usual, so that users can stop a
    /// program that does not finish. When the reader stops reading, all signals terminate the process again.
    public static func arriving() -> AsyncStream<Void> {
        let (arriving, report) = AsyncStream.makeStream(of: Void.self)
        let interruptions = Interruptions(reportingTo: report)
        report.onTermination = { _ in interruptions.stop() }
        return arriving
    }

    private func stop() {
        sources.withLock { sources in
            for source in sources { source.cancel() }
            sources = []
        }
        for number in Self.numbers { signal(number, SIG_DFL) }
    }
}
