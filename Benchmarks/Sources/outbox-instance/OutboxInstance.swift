#if PostgreSQL
import Foundation
import InwardAsyncHTTPClient
import InwardCore
import InwardPostgreSQL
import InwardRepositories

/// One instance of a service whose instances share an outbox: `outbox-instance CONNECTION UPSTREAM CONCURRENCY SKEW`.
///
/// `Benchmarks/chaos.py` and `Benchmarks/shared-outbox.py` start several. An instance reads commands from standard input, one a
/// line, and answers on standard output. It ends when standard input ends.
///
/// | command | answer |
/// |---|---|
/// | `deliver` | none: the instance delivers from now on |
/// | `write SUBJECT BODY` | `accepted BODY NUMBER`, or `failed BODY REASON` |
/// | `letters` | `letter BODY` for each dead letter, then `end` |
///
/// Errors that have no caller are answers, too: `report ERROR`. `SKEW` is the error of the wall clock in seconds.
@main
struct OutboxInstance {
    private static let partition = "chaos"

    let outbox: SharedOutbox

    init(_ store: any SharedRecordStore, _ upstream: URL, concurrency: Int, skew: Double) {
        let destination = OutboxDestination(
            upstream: Upstream(
                baseURL: upstream,
                dataFetcher: AsyncHTTPClientDataFetcher(connectionsPerHost: concurrency)
            ),
            handlers: [WriteHandler(storesRefusals: false), WriteHandler(storesRefusals: true)]
        )
        // Short, so that a run meets many leases that run out, and many answers that come too late.
        let policy = SharedOutboxPolicy(
            delivery: OutboxPolicy(
                initialWait: .milliseconds(100),
                maximumWait: .seconds(1),
                concurrency: concurrency,
                attemptLimit: .seconds(2)
            ),
            leaseDuration: .seconds(5),
            pollInterval: .milliseconds(250)
        )
        outbox = SharedOutbox(
            store: store,
            policy: policy,
            now: { Date(timeIntervalSinceNow: skew) },
            errorHandler: ReportingErrorHandler(),
            destination: { _ in destination }
        )
    }

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let upstream = URL(string: arguments[2]), let concurrency = Int(arguments[3]),
            let skew = Double(arguments[4])
        else {
            return print("usage: outbox-instance CONNECTION UPSTREAM CONCURRENCY SKEW")
        }
        // The server ends transactions that are idle for the time limit. If an instance is suspended in one, writes of the same
        // subject wait that long.
        let store = PostgreSQLRecordStore(arguments[1], timeLimit: .seconds(10))
        await Self(store, upstream, concurrency: concurrency, skew: skew).serve(lines())
    }

    /// Returns the lines of standard input, which a thread of its own reads.
    private static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }

    private func serve(_ lines: AsyncStream<String>) async {
        await withDiscardingTaskGroup { group in
            for await line in lines {
                let words = line.split(separator: " ").map(String.init)
                switch (words.first, words.count) {
                case ("deliver", 1): group.addTask { await outbox.run() }
                case ("write", 3): group.addTask { await accept(words[1], words[2]) }
                case ("letters", 1): group.addTask { await listLetters() }
                default: Answer.say("unknown \(line)")
                }
            }
            group.cancelAll()
        }
    }

    private func accept(_ subject: String, _ body: String) async {
        do throws(RecordStoreError) {
            let entries = try await outbox.accept([WriteHandler.write(subject, body)], in: Self.partition)
            Answer.say("accepted \(body) \(entries.first?.sequence ?? 0)")
        } catch {
            Answer.say("failed \(body) \(error.reason)")
        }
    }

    private func listLetters() async {
        do throws(RecordStoreError) {
            for letter in try await outbox.deadLetters(in: Self.partition) {
                Answer.say("letter \(String(decoding: letter.write?.body ?? [], as: UTF8.self))")
            }
            Answer.say("end")
        } catch {
            Answer.say("failed letters \(error.reason)")
        }
    }
}

/// Lines of standard output.
enum Answer {
    /// Writes a line at once, so that it does not mix with others.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line.replacing("\n", with: " "))\n".utf8))
    }
}

/// Reports errors on standard output.
struct ReportingErrorHandler: ErrorHandler {
    var description: String { "reporting" }

    // Refusals become dead letters, and delays are expected. Nothing else is.
    func handle(_ error: any Error) {
        if error is RefusedWriteError || error is DelayedWriteError { return }
        Answer.say("report \(error)")
    }

    func close() async {}
}
#else
@main
struct OutboxInstance {
    static func main() { print("Build with --traits PostgreSQL.") }
}
#endif
