import InwardFetching
import Synchronization

/// When somebody changed last what an upstream has, or said that it was changed: a copy from before that, of a cache on the way, is
/// not to be taken for what is there.
final class LastChange: Sendable {
    private let time = Mutex<Duration?>(nil)

    /// Notes a change. Before anything is done because of it, so that nobody asks between the two.
    func note(at now: Duration) { time.withLock { $0 = max($0 ?? now, now) } }

    /// Whether an answer is a copy that may be from before the last change.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - time: When it was asked for.
    /// - Returns: whether it is; not if it is another's answer, in whose place there is no better one.
    func mayBeBehind(_ answer: UpstreamAnswer, askedFor time: Duration) -> Bool {
        let response = answer.response
        guard response.degradation == nil, answer.isCopy, let last = self.time.withLock(\.self) else { return false }
        // Ages are in whole seconds, without the rest.
        return time - answer.ageAtRequest - .seconds(1) < last
    }
}
