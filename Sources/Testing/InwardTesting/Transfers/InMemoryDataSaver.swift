public import InwardTransfers
import Synchronization

/// A data saver that keeps saved data and the parts of unfinished drafts in memory.
///
/// ```swift
/// let saver = InMemoryDataSaver()
/// try await saver.save([1, 2, 3])
/// #expect(saver.saved == [1, 2, 3])
/// ```
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
                throw DataSaverError(
                    destination: "The memory",
                    explanation: "was not written, because its bytes do not match the checksum"
                )
            }
            saver.publish(bytes)
            reached = nil
        }

        mutating func leave() {
            saver.keep(reached, bytes)
        }
    }

    private let state = Mutex(State())

    /// Creates a saver that has saved nothing.
    public init() {}

    /// The data that was saved last, or `nil` if nothing was saved.
    public var saved: [UInt8]? { state.withLock(\.published) }

    /// The number of saves.
    public var savedCount: Int { state.withLock(\.publishedCount) }

    /// The saved part of an unfinished draft, or `nil` if there is none.
    public var left: SavedPart? { state.withLock { $0.left?.part } }

    /// Makes writes throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: DataSaverError?) {
        state.withLock { $0.failure = error }
    }

    /// Saves the data.
    ///
    /// - Throws: The prescribed `DataSaverError`, or one for a cancelled task.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        try throwIfTold()
        publish(data)
    }

    /// Opens a draft. If an earlier draft was not published, the new one resumes it.
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

/// A data saver that records what it saved. It fails on demand, or waits for the test before it saves.
///
/// To examine the state during a save, pass two rendezvous:
///
/// ```swift
/// let begun = Rendezvous(of: 2)
/// let released = Rendezvous(of: 2)
/// let saver = RecordingDataSaver(arrivingAt: begun, released)
/// async let saving: Void = saver.save([1, 2, 3])
///
/// await begun.arrive()
/// // A save is in progress. It continues only after the next line.
/// await released.arrive()
/// try await saving
/// ```
public final class RecordingDataSaver: DataSaver {
    private struct State {
        var saved: [[UInt8]] = []
        var attempts = 0
        var failure: DataSaverError?
    }

    private let state: Mutex<State>
    private let places: [Rendezvous]

    /// Creates a saver that has saved nothing.
    ///
    /// - Parameters:
    ///   - places: The rendezvous at which each attempt arrives, in order, before anything is saved.
    ///   - failure: The error that saves throw, or `nil` to save.
    public init(arrivingAt places: Rendezvous..., failure: DataSaverError? = nil) {
        self.places = places
        state = Mutex(State(failure: failure))
    }

    /// The saved data so far, in order.
    public var saved: [[UInt8]] { state.withLock(\.saved) }

    /// The number of attempts to save.
    public var attempts: Int { state.withLock(\.attempts) }

    /// Makes saves throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: DataSaverError?) {
        state.withLock { $0.failure = error }
    }

    /// Records the data.
    ///
    /// - Throws: The prescribed `DataSaverError`, or one for a cancelled task.
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
