/// Hands the errors of one type to a handler that is built for them, and passes the others on.
public struct DivertingErrorHandler<Handled: Error>: ErrorHandler {
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
    public var description: String { "diverts \(Handled.self) to (\(handler)) → \(base)" }
}

extension ErrorHandler {
    /// A handler that hands the errors of one type to a handler that is built for them, and only the others to this one.
    ///
    /// It closes both.
    public func diverting<Handled: Error>(
        _ type: Handled.Type,
        to handler: any ErrorHandler
    ) -> DivertingErrorHandler<Handled> {
        DivertingErrorHandler(self, to: handler)
    }
}
