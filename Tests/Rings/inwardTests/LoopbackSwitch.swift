import Synchronization

/// Something that a test turns on for a server.
final class LoopbackSwitch: Sendable {
    private let state = Mutex(false)

    var isOn: Bool { state.withLock(\.self) }

    func turnOn() {
        state.withLock { $0 = true }
    }
}
