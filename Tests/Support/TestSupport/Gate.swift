import InwardCore
import Synchronization

/// A gate that holds tasks until it is opened, and then stays open.
package final class Gate: Sendable {
    private let waiting: Mutex<[Promise<Void>]?>

    package init(isOpen: Bool = false) {
        waiting = Mutex(isOpen ? nil : [])
    }

    package func open() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for promise in waiting { promise.fulfill(()) }
    }

    /// Waits until the gate is open. Returns `false` if the task was cancelled first.
    package func pass() async -> Bool {
        let promise = waiting.withLock { waiting -> Promise<Void>? in
            guard waiting != nil else { return nil }
            let promise = Promise<Void>()
            waiting?.append(promise)
            return promise
        }
        guard let promise else { return true }
        if case .fulfilled = await promise.value(until: nil) { return true }
        return false
    }
}
