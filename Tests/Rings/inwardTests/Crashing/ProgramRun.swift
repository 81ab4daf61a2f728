import Foundation
import Synchronization

/// One run of the real program, which stands beside the tests, as a process of its own.
///
/// It is used by one thread, which it blocks while it waits: not one of those that tasks share.
final class ProgramRun {
    /// How a run ended.
    enum Ending: Equatable {
        case exit(Int32)
        case killed
        /// By a signal that nobody sent.
        case died(Int32)
    }

    /// One is started at a time, so that none is handed the pipe of another that is being started.
    private static let starting = Mutex(())

    private static var program: URL {
        URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "inward")
    }

    /// What ends it at once, from any thread.
    let killSwitch: KillSwitch

    private let process = Process()
    private let output: FileHandle
    private let end = DispatchSemaphore(value: 0)

    /// Starts the program, with an input that is a file, and appends what it says on standard error to another.
    ///
    /// - Parameters:
    ///   - arguments: What the program is told.
    ///   - environment: What the environment says besides what it says here.
    ///   - input: The input.
    ///   - errors: The file that standard error is appended to.
    /// - Throws: why the program cannot be started.
    init(_ arguments: [String], environment: [String: String] = [:], input: URL, errors: URL) throws {
        let (input, errors) = (try FileHandle(forReadingFrom: input), try FileHandle(forWritingTo: errors))
        _ = try errors.seekToEnd()
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = input
        process.standardError = errors
        process.terminationHandler = { [end] _ in end.signal() }
        let process = process
        output = try Self.starting.withLock { _ in
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            return pipe.fileHandleForReading
        }
        killSwitch = KillSwitch(process.processIdentifier)
    }

    /// The next of what it prints, as it comes; nothing at the end.
    func read() -> Data { output.availableData }

    /// Waits for its end.
    ///
    /// - Returns: how it ended.
    func wait() -> Ending {
        end.wait()
        killSwitch.forget()
        switch (process.terminationReason, process.terminationStatus) {
        case (.exit, let status): return .exit(status)
        case (_, SIGKILL): return .killed
        case (_, let signal): return .died(signal)
        }
    }
}
