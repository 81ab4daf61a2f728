import InwardTesting
import InwardTransfers
import Synchronization

/// A saver that shows only half of the data to a reader during a save. The first ten saves that begin during a read are
/// correct.
struct TearingDataSaver: DataSaver {
    private final class Looks: Sendable {
        let counts = Mutex(Counts())
    }

    private struct Counts {
        var begun = 0
        var ended = 0
        /// The number of saves that began during a read.
        var met = 0

        mutating func meets() -> Bool {
            guard begun > ended else { return false }
            met += 1
            return met > 10
        }
    }

    private let base = InMemoryDataSaver()
    private let looks = Looks()

    /// Returns the data that a slow reader sees.
    func look() async -> [UInt8]? {
        looks.counts.withLock { $0.begun += 1 }
        defer { looks.counts.withLock { $0.ended += 1 } }
        for _ in 0..<600 { await Task.yield() }
        return base.saved
    }

    func save(_ data: [UInt8]) async throws(DataSaverError) {
        let (isTorn, ended) = looks.counts.withLock { ($0.meets(), $0.ended) }
        if isTorn {
            try await base.save(Array(data.prefix(data.count / 2)))
            while looks.counts.withLock({ $0.ended }) == ended { await Task.yield() }
        }
        try await base.save(data)
    }
}
