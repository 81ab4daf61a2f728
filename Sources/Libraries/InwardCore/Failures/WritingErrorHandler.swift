/// Writes each error as one line and passes it on.
public struct WritingErrorHandler: ErrorHandler {
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
    public var description: String { "writes → \(base)" }
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
    public func writing(
        to write: @escaping @Sendable (String) -> Void,
        where isWritten: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> WritingErrorHandler {
        WritingErrorHandler(self, write: write, isWritten: isWritten)
    }
}
