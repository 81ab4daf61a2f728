/// The port for errors that nobody can be given any more, such as what fails in the background.
///
/// Handlers wrap one another. Each is made by a method on the one it wraps, so that the innermost is written first; the
/// outermost gets an error first, does its part and passes the error on to what it wraps:
///
///     let handler = IgnoringErrorHandler()
///         .reporting(through: saver)
///         .writing { line in print(line) }
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
