import Foundation
import Synchronization
import TestSupport

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

    private static var program: URL {
        URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "inward")
    }

    /// What ends it at once, from any thread.
    let killSwitch: KillSwitch

    private let process: SpawnedProcess
    /// What it prints is read from here.
    let output: FileHandle

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
        let pipe = Pipe()
        process = try SpawnedProcess(
            Self.program.path(percentEncoded: false),
            arguments,
            environment: environment,
            input: input,
            output: pipe.fileHandleForWriting,
            errors: errors
        )
        try pipe.fileHandleForWriting.close()
        output = pipe.fileHandleForReading
        killSwitch = KillSwitch(process.identifier)
    }

    /// The next of what it prints, as it comes; nothing at the end.
    func read() -> Data { output.availableData }

    /// Waits for its end.
    ///
    /// - Returns: how it ended.
    func wait() -> Ending {
        let ending = process.wait()
        killSwitch.forget()
        return switch ending {
        case .exit(let status): .exit(status)
        case .signal(SIGKILL): .killed
        case .signal(let signal): .died(signal)
        }
    }
}
