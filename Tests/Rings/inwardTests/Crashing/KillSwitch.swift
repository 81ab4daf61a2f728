import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Ends a process by `SIGKILL`, which it cannot heed, as long as it is there.
final class KillSwitch: Sendable {
    private let identifier: Mutex<pid_t?>

    init(_ identifier: pid_t) {
        self.identifier = Mutex(identifier)
    }

    /// Ends it in the midst of what it does.
    func press() {
        identifier.withLock { identifier in
            if let identifier { kill(identifier, SIGKILL) }
        }
    }

    /// Takes it that the process is gone: its number may be another's from now on.
    func forget() {
        identifier.withLock { $0 = nil }
    }
}
