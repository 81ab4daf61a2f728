public import InwardCore
import Synchronization

/// The exclusive ownership of a key in a store. Until the claim is released, no process can claim the key again.
///
/// ```swift
/// func clean(_ store: any RecordStore) async throws {
///     guard case .claimed(let claim) = try await store.claim(["cleaning"]) else { return }  // another process cleans
///     try await store.commit([.removeAll(["drafts"])])
///     await claim.release()
/// }
/// ```
///
/// A claim ends when it is released or deallocated, or when the process ends in any way. It does not protect the records: every
/// user of the store can still read and change the records under the key.
public final class RecordClaim: Sendable {
    private let resource: Mutex<(@Sendable () async -> Void)?>

    /// Creates a claim.
    ///
    /// - Parameter release: Ends the ownership. It is called at most once. If the claim is deallocated without a call to
    ///   ``release()``, it is not called: an object that it captures must then end the ownership in its `deinit`.
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
///
/// ```swift
/// func clean(_ store: any RecordStore) async throws {
///     switch try await store.claim(["cleaning"]) {
///     case .claimed(let claim):
///         try await store.commit([.removeAll(["drafts"])])
///         await claim.release()
///     case .owned(let owner): print("\(owner) cleans the store.")
///     }
/// }
/// ```
public enum RecordClaimResult: Sendable {
    /// The caller owns the key now.
    case claimed(RecordClaim)
    /// The key has another owner.
    case owned(by: String)
}

extension RecordStore {
    /// Claims a key, and waits while it has another owner.
    ///
    /// ```swift
    /// func claimed(_ store: any RecordStore) async throws -> RecordClaim {
    ///     try await store.claim(["cleaning"], waitingWith: .continuous)
    /// }
    /// ```
    ///
    /// The method tries again after 10 ms, and then at growing intervals of up to a second. Waiters are not served in any
    /// particular order.
    ///
    /// - Parameters:
    ///   - key: The key to own.
    ///   - timer: The timer service that wakes the waiting task.
    /// - Returns: the claim.
    /// - Throws: a ``RecordStoreError``: `busy`, naming the owner, if the task's deadline passes first; `cancelled` if the task
    ///   is cancelled; another reason if the store cannot tell who owns the key.
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
                explanation: "\(name) is owned by \(owner). Wait until the owner has ended, or end it, and try again."
            )
        }
        do {
            try await timer.sleep(for: min(next, remaining))
        } catch {
            throw RecordStoreError(
                .cancelled,
                explanation: "The task was cancelled while it waited for \(owner) to release its claim."
            )
        }
        next = min(next * 2, .seconds(1))
    }
}
