public import InwardCore
import Synchronization

/// Exclusive ownership of a key in a store. Until the claim is released, neither this process nor another can claim the key again.
///
/// A claim ends when it is released or deallocated, or when the process ends in any way. It does not restrict the records: every
/// user of the store can still read and change what is stored under the key.
public final class RecordClaim: Sendable {
    private let resource: Mutex<(@Sendable () async -> Void)?>

    /// Creates a claim.
    ///
    /// - Parameter release: Ends the ownership. It is called at most once. Its captures must also end the ownership when they are
    ///   deallocated, in case the claim is dropped without a call to ``release()``.
    public init(release: @escaping @Sendable () async -> Void) {
        resource = Mutex(release)
    }

    /// Ends the ownership. The key can be claimed again when this method returns. A second call does nothing.
    public func release() async {
        let release = resource.withLock { resource in
            defer { resource = nil }
            return resource
        }
        await release?()
    }
}

/// The outcome of trying to claim a key of a store.
public enum RecordClaimResult: Sendable {
    /// The caller owns the key now.
    case claimed(RecordClaim)
    /// The key has another owner.
    case owned(by: String)
}

extension RecordStore {
    /// Claims a key, waiting while it has another owner.
    ///
    /// It tries again after 10 ms, and then at growing intervals of up to a second. Waiters are not served in any particular order.
    ///
    /// - Parameters:
    ///   - key: The key to own.
    ///   - timer: Wakes the waiting task.
    /// - Returns: the claim.
    /// - Throws: a ``RecordStoreError``: `busy`, naming the owner, if the task's deadline passes first; `cancelled` if the task is
    ///   cancelled; another error if the store cannot tell who owns the key.
    public func claim(_ key: RecordKey, waitingWith timer: TimerService) async throws(RecordStoreError) -> RecordClaim {
        var wait = ClaimWait(timer)
        while true {
            switch try await claim(key) {
            case .claimed(let claim): return claim
            case .owned(let owner): try await wait.pause(for: "The key \(key)", ownedBy: owner)
            }
        }
    }
}

/// The pauses between attempts to claim a key that has another owner.
struct ClaimWait {
    /// How long before the task's deadline the wait ends, so that the caller receives an error that names the owner.
    private static let margin = Duration.milliseconds(100)

    private let timer: TimerService
    private var next = Duration.milliseconds(10)

    init(_ timer: TimerService) {
        self.timer = timer
    }

    /// Waits until the next attempt.
    ///
    /// - Throws: a ``RecordStoreError``: `busy` if the task's deadline is near; `cancelled` if the task is cancelled.
    mutating func pause(for name: String, ownedBy owner: String) async throws(RecordStoreError) {
        let remaining = Deadline.current.map { $0.remaining - Self.margin } ?? next
        guard remaining > .zero else {
            throw RecordStoreError(
                .busy,
                explanation: "\(name) is owned by \(owner). Wait until that has ended, or end it, and try again."
            )
        }
        do {
            try await timer.sleep(for: min(next, remaining))
        } catch {
            throw RecordStoreError(
                .cancelled,
                explanation: "The task was cancelled while it waited for \(owner) to release what it owns."
            )
        }
        next = min(next * 2, .seconds(1))
    }
}
