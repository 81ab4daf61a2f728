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
