import InwardFetching
import Synchronization

/// An observer that calls a function when the given number of requests have joined others.
final class JoinObserver: FetchObserver {
    private let missing: Mutex<Int>
    private let whenJoined: @Sendable () -> Void

    init(of count: Int, _ whenJoined: @escaping @Sendable () -> Void) {
        missing = Mutex(count)
        self.whenJoined = whenJoined
    }

    func joined(_ request: DataRequest) {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { whenJoined() }
    }
}
