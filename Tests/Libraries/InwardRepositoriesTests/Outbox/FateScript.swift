import InwardTesting
import Synchronization

/// The fates of the next requests, in order.
final class FateScript: Sendable {
    private let fates: Mutex<ArraySlice<IdempotentDataFetcher.Fate>>

    init(_ fates: [IdempotentDataFetcher.Fate]) {
        self.fates = Mutex(fates[...])
    }

    func next() -> IdempotentDataFetcher.Fate { fates.withLock { $0.popFirst() } ?? .done }
}
