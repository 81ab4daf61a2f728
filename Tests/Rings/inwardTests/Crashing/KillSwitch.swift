import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Kills a process with `SIGKILL`, as long as it exists.
final class KillSwitch: Sendable {
    private let identifier: Mutex<pid_t?>

    init(_ identifier: pid_t) {
        self.identifier = Mutex(identifier)
    }

    /// Kills the process.
    func press() {
        identifier.withLock { identifier in
            if let identifier { kill(identifier, SIGKILL) }
        }
    }

    /// Forgets the process after it has ended, because the system may give its identifier to another process.
    func forget() {
        identifier.withLock { $0 = nil }
    }
}
