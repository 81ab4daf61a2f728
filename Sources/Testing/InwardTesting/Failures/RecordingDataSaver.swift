public import InwardTransfers
import Synchronization

/// A data saver that remembers what it saved. It can be told to fail, and to wait for the test before it saves.
///
/// To see what happens while data is being saved, let it arrive at two places:
///
///     let begun = Rendezvous(of: 2)
///     let released = Rendezvous(of: 2)
///     let saver = RecordingDataSaver(arrivingAt: begun, released)
///     …
///     await begun.arrive()     // Something is being saved now,
///     await released.arrive()  // and goes on only here.
public final class RecordingDataSaver: DataSaver {
    private struct State {
        var saved: [[UInt8]] = []
        var attempts = 0
        var failure: DataSaverError?
    }

    private let state: Mutex<State>
    private let places: [Rendezvous]

    /// Makes a saver that has saved nothing yet.
    ///
    /// - Parameters:
    ///   - places: Where each attempt to save arrives, one place after the other, before anything is saved.
    ///   - failure: What it throws instead of saving; `nil` if it is to save.
    public init(arrivingAt places: Rendezvous..., failure: DataSaverError? = nil) {
        self.places = places
        state = Mutex(State(failure: failure))
    }

    /// What was saved so far, in its order.
    public var saved: [[UInt8]] { state.withLock(\.saved) }

    /// How often anybody has begun to save.
    public var attempts: Int { state.withLock(\.attempts) }

    /// Throws this from now on instead of saving; `nil` to save again.
    public func fail(with error: DataSaverError?) {
        state.withLock { $0.failure = error }
    }

    /// Remembers the data.
    ///
    /// - Throws: the `DataSaverError` that it is to fail with, or one that says that the task was cancelled.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        state.withLock { $0.attempts += 1 }
        for place in places { await place.arrive() }
        guard !Task.isCancelled else {
            throw DataSaverError(destination: "The recording", explanation: "was cancelled")
        }
        let failure = state.withLock { state in
            if state.failure == nil { state.saved.append(data) }
            return state.failure
        }
        if let failure { throw failure }
    }
}
