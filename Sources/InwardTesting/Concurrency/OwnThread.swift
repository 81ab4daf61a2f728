import Dispatch

/// Runs work that blocks on a thread of its own, where it meets other such work however many threads tasks have.
func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    // Resumed once, by the end of the work.
    await withCheckedContinuation { continuation in
        // Each serial queue has a thread of its own while it works.
        DispatchQueue(label: "inward.conformance").async { continuation.resume(returning: work()) }
    }
}
