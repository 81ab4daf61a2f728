import Foundation
import Synchronization
import TestSupport

/// A run of the real program in a separate process.
///
/// Use it from a single thread outside the task pool, because waiting blocks the thread.
final class ProgramRun {
    /// The end of a run.
    enum Ending: Equatable {
        case exit(Int32)
        case killed
        /// A signal other than `SIGKILL` ended it.
        case died(Int32)
    }

    private static var program: URL {
        URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "inward")
    }

    /// Kills the process, from any thread.
    let killSwitch: KillSwitch

    private let process: SpawnedProcess
    /// The standard output of the process.
    let output: FileHandle

    /// Starts the program, which is next to the test bundle.
    ///
    /// - Parameters:
    ///   - arguments: The command-line arguments.
    ///   - environment: Variables to add to the current environment.
    ///   - input: The file that is the standard input.
    ///   - errors: The file that standard error is appended to.
    /// - Throws: An error if the program cannot be started.
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

    /// Waits for the next output and returns it; empty at the end.
    func read() -> Data { output.availableData }

    /// Waits until the process ends.
    ///
    /// - Returns: How it ended.
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
