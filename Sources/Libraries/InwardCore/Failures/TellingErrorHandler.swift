/// Tells an observer of each error, so that what is shown can change, and passes the error on.
public struct TellingErrorHandler: ErrorHandler {
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
    public var description: String { "tells → \(base)" }
}

extension ErrorHandler {
    /// A handler that tells an observer of each error before it passes it on to this one.
    ///
    /// The observer is called by many at once, and should return soon.
    public func telling(_ observer: @escaping @Sendable (any Error) -> Void) -> TellingErrorHandler {
        TellingErrorHandler(self, observer: observer)
    }
}
