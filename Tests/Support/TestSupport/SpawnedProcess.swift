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
/// Foundation's `Process` crashes now and then on Linux where a process has more than a thousand open files, as that of all tests
/// has (swiftlang/swift-corelibs-foundation#5472).
package final class SpawnedProcess: Sendable {
    /// How a process ended.
    package enum Ending: Equatable, Sendable {
        case exit(Int32)
        /// By a signal.
        case signal(Int32)
    }

    /// The process could not be started.
    package struct Failure: Error {
        package let program: String
        package let code: Int32
    }

    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// The identifier of the process.
    package let identifier: pid_t

    /// Starts a process, which inherits no other open files than its three standard ones.
    ///
    /// - Parameters:
    ///   - program: The path of the executable.
    ///   - arguments: The arguments, without the name of the program.
    ///   - environment: What the environment says besides what it says here.
    ///   - input: The standard input; by default, there is none.
    ///   - output: The standard output.
    ///   - errors: The standard error; by default, that of this process.
    /// - Throws: a ``Failure`` if the process cannot be started.
    package init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: FileHandle = .nullDevice,
        output: FileHandle,
        errors: FileHandle = .standardError
    ) throws {
        // SAFETY: The actions are initialized before and destroyed behind their use. The strings live until the process is started,
        // and their arrays end with a null pointer.
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, file) in [input, output, errors].enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, file.fileDescriptor, Int32(number))
        }
        // SAFETY: The C library has this function with this type, if it has one of this name; its header hides it.
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

    /// Waits for the end of the process, once, and blocks the thread until then.
    package func wait() -> Ending {
        var status: Int32 = 0
        // SAFETY: The status outlives the call.
        while unsafe waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }
}
