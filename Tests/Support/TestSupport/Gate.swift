import InwardCore
import Synchronization

/// A place that nobody passes until it is opened, and everybody after.
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

    /// Waits until it is open; gives whether it is, and not the task cancelled.
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
