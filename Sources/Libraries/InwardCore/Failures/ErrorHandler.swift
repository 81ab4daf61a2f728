import Synchronization

/// A receiver of errors that no caller can catch, such as failures in the background.
///
/// ```swift
/// let handler = IgnoringErrorHandler()
///     .logging { line in print(line) }
///     .droppingRepeats(within: .seconds(10), clock: ContinuousClock())
/// handler.handle(DeadlinePassedError("the refresh of users"))
/// await handler.close()
/// ```
///
/// Handlers wrap one another. Each is created by a method on the handler that it wraps, so you write the innermost handler
/// first. The outermost handler receives an error first, does its part, and passes the error on to the handler that it wraps.
/// The description shows the whole chain, outermost handler first. See <doc:HandleErrorsInTheBackground>.
public protocol ErrorHandler: Sendable, CustomStringConvertible {
    /// Handles an error.
    ///
    /// Implementations return quickly and support concurrent calls.
    func handle(_ error: any Error)

    /// Finishes pending work: passes on errors that were held back, and saves buffered data.
    ///
    /// A handler finishes its own work before it closes the handler that it wraps. Further calls have no effect. An error that
    /// is handled after the close still reaches the end of the chain, but handlers on the way may ignore it.
    func close() async
}

/// The end of a chain of error handlers. It does nothing.
///
/// ```swift
/// let silent: any ErrorHandler = IgnoringErrorHandler()
/// let logging: any ErrorHandler = IgnoringErrorHandler().logging { print($0) }
/// ```
public struct IgnoringErrorHandler: ErrorHandler {
    /// Creates the end of a chain.
    public init() {}

    /// Does nothing.
    public func handle(_ error: any Error) {}

    /// Does nothing, because no work is ever pending.
    public func close() async {}

    /// The text `ends`, which marks the end of the chain.
    public var description: String { "ends" }
}

/// An error handler that calls an observer with each error, for example to update a user interface, and passes the error on.
///
/// Create it with ``ErrorHandler/notifying(_:)``.
public struct NotifyingErrorHandler: ErrorHandler {
    private let base: any ErrorHandler
    private let observer: @Sendable (any Error) -> Void

    init(_ base: any ErrorHandler, observer: @escaping @Sendable (any Error) -> Void) {
        self.base = base
        self.observer = observer
    }

    /// Notifies the observer and passes the error on.
    public func handle(_ error: any Error) {
        observer(error)
        base.handle(error)
    }

    /// Closes the wrapped handler.
    public func close() async {
        await base.close()
    }

    /// The chain, starting with this handler.
    public var description: String { "notifies → \(base)" }
}

extension ErrorHandler {
    /// Returns a handler that notifies an observer of each error before it passes the error on to this handler.
    ///
    /// ```swift
    /// let handler = IgnoringErrorHandler().notifying { error in print("Failed:", error) }
    /// ```
    ///
    /// Calls to the observer can be concurrent. The observer must return quickly.
    public func notifying(_ observer: @escaping @Sendable (any Error) -> Void) -> NotifyingErrorHandler {
        NotifyingErrorHandler(self, observer: observer)
    }
}

/// An error handler that sends errors of one type to a separate handler, and passes all others on.
///
/// Create it with ``ErrorHandler/routing(_:to:)``.
public struct RoutingErrorHandler<Handled: Error>: ErrorHandler {
    private let base: any ErrorHandler
    private let handler: any ErrorHandler

    init(_ base: any ErrorHandler, to handler: any ErrorHandler) {
        self.base = base
        self.handler = handler
    }

    /// Sends an error of the type to the separate handler only, and passes any other error on.
    public func handle(_ error: any Error) {
        if error is Handled {
            handler.handle(error)
        } else {
            base.handle(error)
        }
    }

    /// Closes the separate handler, then the wrapped handler.
    public func close() async {
        await handler.close()
        await base.close()
    }

    /// The chain, starting with this handler, with the separate handler in parentheses.
    public var description: String { "routes \(Handled.self) to (\(handler)) → \(base)" }
}

extension ErrorHandler {
    /// Returns a handler that sends errors of one type to another handler, and only the remaining errors to this handler.
    ///
    /// ```swift
    /// let handler = IgnoringErrorHandler()
    ///     .logging { print("error:", $0) }
    ///     .routing(DeadlinePassedError.self, to: IgnoringErrorHandler().logging { print("late:", $0) })
    /// ```
    ///
    /// Closing the returned handler closes both.
    public func routing<Handled: Error>(
        _ type: Handled.Type,
        to handler: any ErrorHandler
    ) -> RoutingErrorHandler<Handled> {
        RoutingErrorHandler(self, to: handler)
    }
}

/// An error handler that writes each error as one line and passes it on.
///
/// Create it with ``ErrorHandler/logging(to:where:)``.
public struct LoggingErrorHandler: ErrorHandler {
    private let base: any ErrorHandler
    private let write: @Sendable (String) -> Void
    private let isWritten: @Sendable (any Error) -> Bool

    init(
        _ base: any ErrorHandler,
        write: @escaping @Sendable (String) -> Void,
        isWritten: @escaping @Sendable (any Error) -> Bool
    ) {
        self.base = base
        self.write = write
        self.isWritten = isWritten
    }

    /// Writes the error's description if the filter selects the error, and passes the error on.
    public func handle(_ error: any Error) {
        if isWritten(error) { write("\(error)".visible) }
        base.handle(error)
    }

    /// Closes the wrapped handler.
    public func close() async {
        await base.close()
    }

    /// The chain, starting with this handler.
    public var description: String { "logs → \(base)" }
}

extension ErrorHandler {
    /// Returns a handler that writes each error as one line before it passes the error on to this handler.
    ///
    /// ```swift
    /// let handler = IgnoringErrorHandler()
    ///     .logging(to: { print($0) }, where: { !($0 is CancellationError) })
    /// ```
    ///
    /// A line has no line terminator. Control characters and invisible characters are escaped, so an error is always one line
    /// and cannot control a terminal. Calls to `write` can be concurrent. It must return quickly.
    ///
    /// - Parameters:
    ///   - write: Receives each line.
    ///   - isWritten: Returns whether to write an error. All errors are passed on.
    /// - Returns: The outermost handler of the new chain.
    public func logging(
        to write: @escaping @Sendable (String) -> Void,
        where isWritten: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> LoggingErrorHandler {
        LoggingErrorHandler(self, write: write, isWritten: isWritten)
    }
}

/// An error handler that passes errors on to a handler that you can replace at any time, from any thread.
///
/// ```swift
/// let handler = ReplaceableErrorHandler(IgnoringErrorHandler().logging { print($0) })
/// let old = handler.replace(with: IgnoringErrorHandler())
/// await old.close()
/// ```
///
/// Each error reaches one handler. A call that is in progress during the replacement may still reach the old handler.
public final class ReplaceableErrorHandler: ErrorHandler {
    private let current: Mutex<any ErrorHandler>

    /// Creates a handler that passes errors on to another handler until it is replaced.
    public init(_ handler: any ErrorHandler) {
        current = Mutex(handler)
    }

    /// Replaces the handler and returns the old one, which is still open. Close it.
    public func replace(with handler: any ErrorHandler) -> any ErrorHandler {
        current.withLock { current in
            defer { current = handler }
            return current
        }
    }

    // The handler is never called with the lock held, because it may be slow or call back into this object.
    private var handler: any ErrorHandler { current.withLock(\.self) }

    /// Passes the error on to the current handler.
    public func handle(_ error: any Error) {
        handler.handle(error)
    }

    /// Closes the current handler. A handler that replaces it later stays open.
    public func close() async {
        await handler.close()
    }

    /// The current chain, starting with this handler.
    public var description: String { "can be replaced → \(handler)" }
}
