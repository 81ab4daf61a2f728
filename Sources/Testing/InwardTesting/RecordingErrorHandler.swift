public import InwardCore
import Synchronization

/// An error handler that records the errors it receives.
///
/// ```swift
/// let recorder = RecordingErrorHandler()
/// recorder.handle(URLError(.timedOut))
/// #expect(recorder.errors.count == 1)
/// ```
public final class RecordingErrorHandler: ErrorHandler {
    private struct State {
        var errors: [any Error] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Creates a handler without recorded errors.
    public init() {}

    /// The errors so far, in order.
    public var errors: [any Error] { state.withLock(\.errors) }

    /// Whether the handler was closed. It continues to record errors after that.
    public var isClosed: Bool { state.withLock(\.isClosed) }

    /// Records an error.
    public func handle(_ error: any Error) {
        state.withLock { $0.errors.append(error) }
    }

    /// Records that the handler was closed.
    public func close() async {
        state.withLock { $0.isClosed = true }
    }

    /// The description of the handler in a chain, `records`.
    public var description: String { "records" }
}

extension RepositoryError {
    /// Throws the error of a cancelled request if the task is cancelled.
    package static func throwIfCancelled(asking request: String) throws(RepositoryError) {
        guard !Task.isCancelled else {
            throw RepositoryError(.cancelled, request: request, explanation: "was cancelled")
        }
    }
}
