import InwardRepositories
import Synchronization

/// A process that ends in one of its steps: what it does to the world from then on has no effect, and it hears nothing more of it.
///
/// Each call of a store or an upstream is two steps: one before it has any effect, and one before its caller hears of that.
final class MortalProcess: Sendable {
    private let stepsLeft: Mutex<Int>
    private let hasEnded = Mutex(false)
    private let claims = Mutex<[RecordClaim]>([])

    /// Makes a process that lives for so many steps.
    init(steps limit: Int = .max) {
        stepsLeft = Mutex(limit)
    }

    /// Whether it has ended.
    var isDead: Bool { hasEnded.withLock(\.self) }

    /// Ends it now.
    func end() {
        stepsLeft.withLock { $0 = 0 }
        releaseClaims()
    }

    /// Takes a step; `false` if the process ends in it, or has.
    func survives() -> Bool {
        let survives = stepsLeft.withLock { steps in
            guard steps > 0 else { return false }
            steps -= 1
            return true
        }
        if !survives {
            hasEnded.withLock { $0 = true }
            releaseClaims()
        }
        return survives
    }

    /// Holds a claim until it is released or the process ends.
    func hold(_ claim: RecordClaim) -> RecordClaim {
        claims.withLock { $0.append(claim) }
        return RecordClaim { [weak claim] in await claim?.release() }
    }

    /// The system releases what a process owns when it ends.
    private func releaseClaims() {
        // Dropped outside of the lock.
        _ = claims.withLock { claims in
            defer { claims = [] }
            return claims
        }
    }
}
