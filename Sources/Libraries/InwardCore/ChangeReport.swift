import Synchronization

/// A serializer for notifications about a state that several threads change. The last notification always reports the final
/// state.
///
/// One notification runs at a time. If the state changes during it, the same caller notifies once more when it has ended,
/// however many changes there were.
package final class ChangeReport: Sendable {
    private struct State {
        var isTelling = false
        var hasChanged = false
    }

    private let state = Mutex(State())

    /// Creates a report.
    package init() {}

    /// Notifies the observer of a change. Call it after the change.
    ///
    /// - Parameter tell: Reads the state and notifies the observer. It is called without a lock, and again if the state changes
    ///   during the call. If another caller is notifying, that caller's closure runs instead.
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

    /// Whether the state has changed since the last notification began. If not, the turn of this caller ends.
    private var hasChanged: Bool {
        state.withLock { state in
            defer { (state.isTelling, state.hasChanged) = (state.hasChanged, false) }
            return state.hasChanged
        }
    }
}
