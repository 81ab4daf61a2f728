import InwardTesting
import InwardTransfers
import Synchronization

/// A saver that fails the first time, once a test has arrived at the rendezvous, and then records what it saves.
final class FailingOnceDataSaver: DataSaver {
    let attempted = Rendezvous(of: 2)
    private let recorded = Mutex<(hasFailed: Bool, saved: [[UInt8]])>((false, []))

    var saved: [[UInt8]] { recorded.withLock(\.saved) }

    func save(_ data: [UInt8]) async throws(DataSaverError) {
        await attempted.arrive()
        let fails = recorded.withLock { recorded in
            defer { recorded.hasFailed = true }
            if recorded.hasFailed { recorded.saved.append(data) }
            return !recorded.hasFailed
        }
        if fails { throw DataSaverError(destination: "The collector", explanation: "is down") }
    }
}
