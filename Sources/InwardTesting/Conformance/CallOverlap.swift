import Synchronization

/// Counts how often calls on several threads met, so that they go on until that is enough.
///
/// A thread that does not run for a while stands at one place of one call, which may be a harmless one. So a call that meets another
/// counts once, however many calls of other threads it lasts.
final class CallOverlap: Sendable {
    /// How often each caller meets others.
    private static let enough = 16
    /// How many calls each caller makes at most, where calls do not meet: so many take longer than a thread runs before another does.
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
