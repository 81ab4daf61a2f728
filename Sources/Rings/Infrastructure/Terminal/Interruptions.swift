import Foundation
import Synchronization

/// Tells of the interruptions of this process, `SIGINT` and `SIGTERM`, instead of being ended by them.
public final class Interruptions: Sendable {
    private static let numbers = [SIGINT, SIGTERM]

    // The lock is for the compiler alone: a source may be cancelled from anywhere.
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
                // An interruption that came before would be lost.
                registered.wait()
                return source
            }
        )
    }

    /// Each interruption from now on, for one reader, as long as it reads.
    ///
    /// Behind the first of its kind an interruption ends the process as ever, so that a program which does not come to an end
    /// can be stopped. So does every one when nobody reads any more.
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
