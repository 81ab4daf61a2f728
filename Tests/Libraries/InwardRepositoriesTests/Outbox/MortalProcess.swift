import InwardRepositories
import Synchronization

/// A simulated process that ends at one of its steps. After that, its calls have no effect, and it receives no more responses.
///
/// Each call of a store or an upstream is two steps: one before the call takes effect, and one before the caller learns the
/// outcome.
final class MortalProcess: Sendable {
    private let stepsLeft: Mutex<Int>
    private let hasEnded = Mutex(false)
    private let claims = Mutex<[RecordClaim]>([])

    /// Creates a process that ends after a number of steps.
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

    /// Takes a step, and returns `false` if the process ends at this step or has already ended.
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

    /// When a process ends, the system releases its claims.
    private func releaseClaims() {
        // Released outside of the lock.
        _ = claims.withLock { claims in
            defer { claims = [] }
            return claims
        }
    }
}
