import Synchronization

/// A switch that a test turns on to change the answers of a server.
final class LoopbackSwitch: Sendable {
    private let state = Mutex(false)

    var isOn: Bool { state.withLock(\.self) }

    func turnOn() {
        state.withLock { $0 = true }
    }
}
