import Synchronization

/// Tells an observer of a state that changes on many threads, so that the last call is about the last state.
///
///     report.tell { observer.outboxChanged(status) }
///
/// Calls are made one at a time. Changes during a call cause one more call, by the same caller.
package final class ChangeReport: Sendable {
    private struct State {
        var isTelling = false
        var hasChanged = false
    }

    private let state = Mutex(State())

    /// Creates a report.
    package init() {}

    /// Tells of a change that has been made.
    ///
    /// - Parameter tell: Reads the state and tells an observer of it. Called without a lock, and again if the state has changed in
    ///   the meantime.
    package func tell(_ tell: () -> Void) {
        let isFirst = state.withLock { state in
            defer { (state.hasChanged, state.isTelling) = (state.isTelling, true) }
            return !state.isTelling
        }
        guard isFirst else { return }
        repeat {
            tell()
        } while hasChanged
    }

    /// Whether the state has changed since the beginning of the last call. If it has not, the next change begins a call.
    private var hasChanged: Bool {
        state.withLock { state in
            defer { (state.isTelling, state.hasChanged) = (state.hasChanged, false) }
            return state.hasChanged
        }
    }
}
