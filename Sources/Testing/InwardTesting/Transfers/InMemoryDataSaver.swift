public import InwardTransfers
import Synchronization

/// A data saver that keeps in memory what was saved, and what an unfinished draft left.
public final class InMemoryDataSaver: DataSaver {
    private struct State {
        var published: [UInt8]?
        var publishedCount = 0
        var left: (part: SavedPart, bytes: [UInt8])?
        var failure: DataSaverError?
    }

    private struct Draft: DataDraft {
        let saver: InMemoryDataSaver
        private(set) var saved: SavedPart?
        private var bytes: [UInt8]
        private var reached: SavedPart?

        init(_ saver: InMemoryDataSaver, _ left: (part: SavedPart, bytes: [UInt8])?) {
            self.saver = saver
            saved = left?.part
            reached = left?.part
            bytes = left?.bytes ?? []
        }

        mutating func begin() throws(DataSaverError) {
            saved = nil
            reached = nil
            bytes = []
        }

        mutating func append(_ bytes: [UInt8], reaching part: SavedPart) throws(DataSaverError) {
            try saver.throwIfTold()
            self.bytes += bytes
            reached = part
        }

        mutating func publish(_ checksum: Checksum) throws(DataSaverError) {
            try saver.throwIfTold()
            guard Checksum(of: bytes.span) == checksum else {
                reached = nil
                throw DataSaverError(destination: "The memory", explanation: "has other bytes than were to be written")
            }
            saver.publish(bytes)
            reached = nil
        }

        mutating func leave() {
            saver.keep(reached, bytes)
        }
    }

    private let state = Mutex(State())

    /// Makes a saver that has saved nothing yet.
    public init() {}

    /// What was saved last; `nil` if nothing was.
    public var saved: [UInt8]? { state.withLock(\.published) }

    /// How often anything was saved.
    public var savedCount: Int { state.withLock(\.publishedCount) }

    /// What an unfinished draft left; `nil` if nothing.
    public var left: SavedPart? { state.withLock { $0.left?.part } }

    /// Throws this from now on instead of writing; `nil` to write again.
    public func fail(with error: DataSaverError?) {
        state.withLock { $0.failure = error }
    }

    /// Keeps the data.
    ///
    /// - Throws: the `DataSaverError` that it is to fail with.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        try throwIfTold()
        publish(data)
    }

    /// A draft that goes on from what an earlier one left.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        Draft(self, state.withLock(\.left))
    }

    private func throwIfTold() throws(DataSaverError) {
        if let failure = state.withLock(\.failure) { throw failure }
        guard !Task.isCancelled else {
            throw DataSaverError(destination: "The memory", explanation: "was cancelled")
        }
    }

    private func publish(_ bytes: [UInt8]) {
        state.withLock { state in
            state.published = bytes
            state.publishedCount += 1
            state.left = nil
        }
    }

    private func keep(_ part: SavedPart?, _ bytes: [UInt8]) {
        state.withLock { $0.left = part.flatMap { $0.canBeResumed ? ($0, bytes) : nil } }
    }
}

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
