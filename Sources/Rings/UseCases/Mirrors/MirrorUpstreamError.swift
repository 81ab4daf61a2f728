public import InwardCore
public import InwardTransfers

/// Why there is no new mirror. The one there was is what it was before.
public enum MirrorUpstreamError: Error, Hashable, Sendable {
    /// The caller gave up. What is there already serves the next run.
    case cancelled
    /// The deadline passed first. What is there already serves the next run.
    case timedOut
    /// An item could not be loaded.
    case unavailable(DataLoaderError)
    /// The upstream passed one of the ``MirrorLimits``. The error names the limit.
    case limitExceeded(DataLoaderError)
    /// What came is no list of users, or none of posts.
    case unreadable(RepositoryError)
    /// An item could not be saved.
    case unwritable(DataSaverError)
    /// The mirror cannot be kept where it was to be.
    case unkept(MirrorStoreError)
    /// The users or the posts changed each time while the others were being copied.
    case restless

    init(_ error: TransferDataError) {
        self =
            switch error {
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .unreadable(let cause): .unavailable(cause)
            case .limitExceeded(let cause): .limitExceeded(cause)
            case .unwritable(let cause): .unwritable(cause)
            case .restless: .restless
            }
    }
}
