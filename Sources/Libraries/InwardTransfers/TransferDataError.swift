/// Why data was not transferred. The target is what it was before, unless it is not known whether it was saved.
public enum TransferDataError: Error, Hashable, Sendable {
    /// The caller gave up.
    case cancelled
    /// The deadline passed first.
    case timedOut
    /// The data could not be loaded.
    case unreadable(DataLoaderError)
    /// The data could not be saved.
    case unwritable(DataSaverError)
    /// The source passed one of the ``TransferLimits``. The error names the limit. Nothing is kept for the next run.
    case limitExceeded(DataLoaderError)
    /// The data became another each time that it was begun anew, this many times.
    case restless(restartCount: Int)
}

extension TransferDataError: CustomStringConvertible {
    /// What could not be done and why, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .cancelled: "The transfer was cancelled"
        case .timedOut: "The transfer was not done in time"
        case .unreadable(let cause): "The data could not be loaded: \(cause)"
        case .limitExceeded(let cause): "The transfer was given up: \(cause)"
        case .unwritable(let cause): "The data could not be saved: \(cause)"
        case .restless(let count):
            "The data changed \(count) times while it was being loaded. Try again when it is at rest"
        }
    }
}
