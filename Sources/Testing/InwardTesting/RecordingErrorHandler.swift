public import InwardCore
import Synchronization

/// The end of a chain of error handlers that remembers what it was handed.
public final class RecordingErrorHandler: ErrorHandler {
    private struct State {
        var errors: [any Error] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Makes a handler that was handed nothing yet.
    public init() {}

    /// What was handled so far, in its order.
    public var errors: [any Error] { state.withLock(\.errors) }

    /// Whether it was closed. It remembers what it is handed behind that too.
    public var isClosed: Bool { state.withLock(\.isClosed) }

    /// Remembers the error.
    public func handle(_ error: any Error) {
        state.withLock { $0.errors.append(error) }
    }

    /// Remembers that it was closed.
    public func close() async {
        state.withLock { $0.isClosed = true }
    }

    /// That errors are recorded here.
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
