import Synchronization

/// Counts how often calls on several threads met, so that they go on until that is enough.
///
/// A thread that the system does not run for a while stands at one place in one call, which may be harmless. So meeting that call
/// counts once, however many other calls it outlasts.
final class CallOverlap: Sendable {
    /// How often each caller meets others.
    private static let enough = 16
    /// After how many calls each the callers stop if they do not meet. So many take longer than the system runs one thread at a time.
    private static let mostCalls = 1_000

    private struct Caller {
        var callCount = 0
        var isActive = false
        var meetings = 0
        /// How many calls the others had made when this one last met some of them.
        var metCallCount = 0
    }

    private let callers: Mutex<[Caller]>

    init(callers count: Int) {
        callers = Mutex([Caller](repeating: Caller(), count: count))
    }

    /// Whether calls are still needed, of whichever caller.
    var needsCalls: Bool {
        callers.withLock { callers in
            callers.contains { $0.meetings < Self.enough } && callers.contains { $0.callCount < Self.mostCalls }
        }
    }

    /// A caller begins a call.
    func enter(_ caller: Int) {
        callers.withLock { callers in
            let others = callers.indices.filter { $0 != caller }
            let callCount = others.reduce(0) { $0 + callers[$1].callCount }
            if others.contains(where: { callers[$0].isActive }), callCount != callers[caller].metCallCount {
                callers[caller].metCallCount = callCount
                callers[caller].meetings += 1
            }
            callers[caller].callCount += 1
            callers[caller].isActive = true
        }
    }

    /// A caller ends its call.
    func leave(_ caller: Int) {
        callers.withLock { $0[caller].isActive = false }
    }
}
