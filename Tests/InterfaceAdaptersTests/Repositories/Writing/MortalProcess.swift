import Synchronization

/// A process that ends in one of its steps: what it does to the world from then on has no effect, and it hears nothing more of it.
///
/// Each call of a store or an upstream is two steps: one before it has any effect, and one before its caller hears of that.
final class MortalProcess: Sendable {
    private let limit: Int
    private let steps = Mutex(0)

    /// Makes a process that lives for so many steps.
    init(steps limit: Int = .max) {
        self.limit = limit
    }

    /// Whether it has ended.
    var isDead: Bool { steps.withLock { $0 > limit } }

    /// Takes a step; `false` if the process ends in it, or has.
    func survives() -> Bool {
        steps.withLock { steps in
            steps += 1
            return steps <= limit
        }
    }
}
