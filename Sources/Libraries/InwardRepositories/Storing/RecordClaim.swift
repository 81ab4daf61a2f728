import Synchronization

/// Exclusive ownership of a key in a store: the key cannot be claimed again, in this process or another, until the claim is released.
///
/// A claim ends when it is released or deallocated, or when the process ends, however it ends. It does not restrict the records:
/// every user of the store can still read and change what is stored under the key.
public final class RecordClaim: Sendable {
    private let resource: Mutex<(@Sendable () async -> Void)?>

    /// Makes a claim.
    ///
    /// - Parameter release: Ends the ownership. It is called at most once. Whatever it captures must end the ownership, too, when
    ///   it is deallocated, for claims that are dropped without a call of ``release()``.
    public init(release: @escaping @Sendable () async -> Void) {
        resource = Mutex(release)
    }

    /// Ends the ownership. Somebody else can claim the key when it returns. A second call does nothing.
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
    /// Somebody else owns the key.
    case owned(by: String)
}
