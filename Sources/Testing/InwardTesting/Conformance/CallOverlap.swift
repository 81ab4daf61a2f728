import Dispatch
import Synchronization

/// Counts how often calls on several threads overlap, so that they continue until they have overlapped enough.
///
/// If the system suspends a thread during a call, the calls that other threads make meanwhile overlap with the same point of
/// that call. This point may be harmless, so they count as one overlap.
final class CallOverlap: Sendable {
    /// The number of overlaps that each caller needs.
    private static let enough = 16
    /// The maximum number of calls per caller, for calls that never overlap. So many calls take longer than a thread's time
    /// slice.
    private static let maximumCalls = 1_000

    private struct Caller {
        var callCount = 0
        var meetings = 0
        /// The number of calls that the others had made when this caller last overlapped with some of them.
        var metCallCount = 0
    }

    /// Whether a caller's call is under way. It is not part of the locked state: a caller that waited for the lock after its call
    /// would seem to be calling.
    private final class Activity: Sendable {
        let isCalling = Atomic(false)
    }

    private let callers: Mutex<[Caller]>
    private let activities: [Activity]

    init(callers count: Int) {
        callers = Mutex([Caller](repeating: Caller(), count: count))
        activities = (0..<count).map { _ in Activity() }
    }

    /// Whether any caller needs more calls.
    var needsCalls: Bool {
        callers.withLock { callers in
            callers.contains { $0.meetings < Self.enough } && callers.contains { $0.callCount < Self.maximumCalls }
        }
    }

    /// Records that a caller begins a call.
    func enter(_ caller: Int) {
        callers.withLock { callers in
            let others = callers.indices.filter { $0 != caller }
            let callCount = others.reduce(0) { $0 + callers[$1].callCount }
            let overlaps = others.contains { activities[$0].isCalling.load(ordering: .acquiring) }
            if overlaps, callCount != callers[caller].metCallCount {
                callers[caller].metCallCount = callCount
                callers[caller].meetings += 1
            }
            callers[caller].callCount += 1
        }
        activities[caller].isCalling.store(true, ordering: .releasing)
    }

    /// Records that a caller ends its call.
    func leave(_ caller: Int) {
        activities[caller].isCalling.store(false, ordering: .releasing)
    }
}

extension CallOverlap {
    /// Returns what is wrong with concurrent calls. Each call is repeated on its own thread, and returns the violations it finds.
    static func violations(of calls: [@Sendable () -> [String]]) async -> [String] {
        let start = DispatchGroup()
        for _ in calls { start.enter() }
        let overlap = CallOverlap(callers: calls.count)
        let found = await withTaskGroup { group in
            for (caller, call) in calls.enumerated() {
                group.addTask {
                    await onOwnThread {
                        start.leave()
                        start.wait()
                        var violations: Set<String> = []
                        // All callers continue until all have overlapped enough, so that none waits in vain for another.
                        while overlap.needsCalls {
                            overlap.enter(caller)
                            violations.formUnion(call())
                            overlap.leave(caller)
                        }
                        return violations
                    }
                }
            }
            return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        return found.map { "Concurrently: \($0)" }.sorted()
    }
}

/// Runs blocking work on its own thread, so that it overlaps with other such work even if the cooperative pool has few threads.
private func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    // Resumed once, when the work ends.
    await withCheckedContinuation { continuation in
        // A serial queue has its own thread while it works.
        DispatchQueue(label: "inward.conformance").async { continuation.resume(returning: work()) }
    }
}
