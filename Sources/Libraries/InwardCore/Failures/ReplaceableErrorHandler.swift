import Synchronization

/// Passes errors on to a handler that can be replaced while it is in use, from any thread.
///
/// Each error reaches one handler. What is under way at the moment of the replacement may still reach the old one a little
/// later.
public final class ReplaceableErrorHandler: ErrorHandler {
    private let current: Mutex<any ErrorHandler>

    /// Makes a handler that passes errors on to another until it is replaced.
    public init(_ handler: any ErrorHandler) {
        current = Mutex(handler)
    }

    /// Passes errors on to another handler from now on, and gives the old one, which is still open: whoever replaces it
    /// closes it.
    public func replace(with handler: any ErrorHandler) -> any ErrorHandler {
        current.withLock { current in
            defer { current = handler }
            return current
        }
    }

    // A handler is never called with the lock held: it may take its time, and may come back here.
    private var handler: any ErrorHandler { current.withLock(\.self) }

    /// Passes the error on to the handler of this moment.
    public func handle(_ error: any Error) {
        handler.handle(error)
    }

    /// Closes the handler of this moment. One that comes in its place behind that is not closed by this.
    public func close() async {
        await handler.close()
    }

    /// The chain from here on, as it is at this moment.
    public var description: String { "can be replaced → \(handler)" }
}
