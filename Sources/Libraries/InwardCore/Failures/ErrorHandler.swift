import Synchronization

/// The port for errors that nobody can be given any more, such as what fails in the background.
///
/// Handlers wrap one another. Each is made by a method on the one it wraps, so that the innermost is written first; the
/// outermost gets an error first, does its part and passes the error on to what it wraps:
///
///     let handler = IgnoringErrorHandler()
///         .reporting(through: saver)
///         .logging { line in print(line) }
///         .droppingRepeats(within: .seconds(10), clock: ContinuousClock())
///
/// Its description is the whole chain, the outermost first.
public protocol ErrorHandler: Sendable, CustomStringConvertible {
    /// Takes an error. It returns soon, whatever becomes of the error, and may be called by many at once.
    func handle(_ error: any Error)

    /// Ends what is under way, and returns when that is done: what was kept back is passed on, what was buffered is saved.
    ///
    /// Who wraps another handler closes itself first and then the other. A second close changes nothing. An error that is
    /// handled behind it still reaches the end of the chain, though not everybody on the way has a use for it any more.
    func close() async
}

/// The end of a chain of error handlers: does nothing.
public struct IgnoringErrorHandler: ErrorHandler {
    /// Makes the end of a chain.
    public init() {}

    /// Does nothing.
    public func handle(_ error: any Error) {}

    /// Does nothing: nothing is ever under way.
    public func close() async {}

    /// That the chain ends here.
    public var description: String { "ends" }
}

/// Tells an observer of each error, so that what is shown can change, and passes the error on.
public struct NotifyingErrorHandler: ErrorHandler {
    private let base: any ErrorHandler
    private let observer: @Sendable (any Error) -> Void

    init(_ base: any ErrorHandler, observer: @escaping @Sendable (any Error) -> Void) {
        self.base = base
        self.observer = observer
    }

    /// Tells the observer, and passes the error on.
    public func handle(_ error: any Error) {
        observer(error)
        base.handle(error)
    }

    /// Closes what it passes errors on to.
    public func close() async {
        await base.close()
    }

    /// The chain from here on.
    public var description: String { "notifies → \(base)" }
}

extension ErrorHandler {
    /// A handler that tells an observer of each error before it passes it on to this one.
    ///
    /// The observer is called by many at once, and should return soon.
    public func notifying(_ observer: @escaping @Sendable (any Error) -> Void) -> NotifyingErrorHandler {
        NotifyingErrorHandler(self, observer: observer)
    }
}

/// Hands the errors of one type to a handler that is built for them, and passes the others on.
public struct RoutingErrorHandler<Handled: Error>: ErrorHandler {
    private let base: any ErrorHandler
    private let handler: any ErrorHandler

    init(_ base: any ErrorHandler, to handler: any ErrorHandler) {
        self.base = base
        self.handler = handler
    }

    /// Hands an error of the type to the handler for it and no further, and passes any other on.
    public func handle(_ error: any Error) {
        if error is Handled {
            handler.handle(error)
        } else {
            base.handle(error)
        }
    }

    /// Closes the handler that is built for the errors of the type, and then what it passes the others on to.
    public func close() async {
        await handler.close()
        await base.close()
    }

    /// The chain from here on, with the other one in parentheses.
    public var description: String { "routes \(Handled.self) to (\(handler)) → \(base)" }
}

extension ErrorHandler {
    /// A handler that hands the errors of one type to a handler that is built for them, and only the others to this one.
    ///
    /// It closes both.
    public func routing<Handled: Error>(
        _ type: Handled.Type,
        to handler: any ErrorHandler
    ) -> RoutingErrorHandler<Handled> {
        RoutingErrorHandler(self, to: handler)
    }
}

/// Writes each error as one line and passes it on.
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

    /// Writes the error's description, if it is to be written, and passes the error on.
    public func handle(_ error: any Error) {
        if isWritten(error) { write("\(error)".visible) }
        base.handle(error)
    }

    /// Closes what it passes errors on to.
    public func close() async {
        await base.close()
    }

    /// The chain from here on.
    public var description: String { "logs → \(base)" }
}

extension ErrorHandler {
    /// A handler that writes each error as one line before it passes it on to this one.
    ///
    /// A line comes without its end. Control characters and invisible ones are written out, so that it is one line and does nothing
    /// to a terminal. `write` is called by many at once, and should return soon.
    ///
    /// - Parameters:
    ///   - write: Takes a line.
    ///   - isWritten: Whether an error is written. Each is passed on.
    /// - Returns: the handler to tell errors to.
    public func logging(
        to write: @escaping @Sendable (String) -> Void,
        where isWritten: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> LoggingErrorHandler {
        LoggingErrorHandler(self, write: write, isWritten: isWritten)
    }
}

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
