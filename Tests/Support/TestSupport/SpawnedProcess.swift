package import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that a test starts and waits for.
///
/// It replaces Foundation's `Process`, which occasionally crashes on Linux in a process with more than a thousand open files,
/// such as that of the tests (swiftlang/swift-corelibs-foundation#5472).
package final class SpawnedProcess: Sendable {
    /// How a process ended.
    package enum Ending: Equatable, Sendable {
        case exit(Int32)
        /// The process was ended by a signal.
        case signal(Int32)
    }

    /// An error thrown when the process cannot be started.
    package struct Failure: Error {
        package let program: String
        package let code: Int32
    }

    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// The identifier of the process.
    package let identifier: pid_t

    /// Starts a process, which inherits only the three standard files.
    ///
    /// - Parameters:
    ///   - program: The path of the executable.
    ///   - arguments: The arguments, without the program name.
    ///   - environment: Variables to add to the environment of this process.
    ///   - input: The standard input, by default the null device.
    ///   - output: The standard output.
    ///   - errors: The standard error, by default that of this process.
    /// - Throws: A ``Failure`` if the process cannot be started.
    package init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: FileHandle = .nullDevice,
        output: FileHandle,
        errors: FileHandle = .standardError
    ) throws {
        // SAFETY: The actions are initialized before they are used and destroyed after. The strings live until the process has
        // started, and their arrays end with a null pointer.
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, file) in [input, output, errors].enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, file.fileDescriptor, Int32(number))
        }
        // SAFETY: If the C library has a function with this name, it has this type. The header hides it.
        if let closeFrom = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
            _ = unsafe unsafeBitCast(closeFrom, to: CloseFrom.self)(&actions, 3)
        }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        var argumentList = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        var variableList = unsafe variables.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (argumentList + variableList).forEach { unsafe free($0) } }
        var identifier = pid_t()
        let code = unsafe posix_spawn(&identifier, program, &actions, nil, &argumentList, &variableList)
        guard code == 0 else { throw Failure(program: program, code: code) }
        self.identifier = identifier
    }

    /// Blocks the thread until the process has ended. Call it once.
    package func wait() -> Ending {
        var status: Int32 = 0
        // SAFETY: The status variable outlives the call.
        while unsafe waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }
}
