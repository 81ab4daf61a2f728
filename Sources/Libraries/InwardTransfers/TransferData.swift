public import InwardCore

/// A transfer of data from a loader through processing steps to a saver, chunk by chunk.
///
/// ```swift
/// let report = try await TransferData(from: loader, to: saver)()
/// print("Saved \(report.savedByteCount) bytes.")
/// ```
///
/// Each chunk is saved before the next is loaded, so memory holds one chunk and its processed bytes. The saved data is read
/// back and verified, and replaces the previous data only when it is complete.
///
/// An interrupted transfer leaves its progress for the next run. If the source still has the same version, that run resumes the
/// transfer. Otherwise, it starts over. It also starts over if the source changes during a run, so the saved data never
/// mixes versions. A transfer with steps resumes only if every step is a ``ResumablePlugin``.
public struct TransferData: Sendable {
    /// The maximum number of times that a run starts over because the source has changed.
    private static let maximumRestarts = 3

    private let loader: any DataLoader
    private let steps: PluginCollection<DataChunk>
    private let saver: any DataSaver
    private let limits: TransferLimits

    /// Creates a transfer.
    ///
    /// - Parameters:
    ///   - loader: The source of the data.
    ///   - steps: The steps that process each chunk, in order.
    ///   - saver: The destination of the data.
    ///   - limits: The limits of the transfer, which fails if it exceeds one.
    public init(
        from loader: any DataLoader,
        through steps: PluginCollection<DataChunk> = PluginCollection(),
        to saver: any DataSaver,
        limits: TransferLimits = TransferLimits()
    ) {
        self.limits = limits
        self.loader = loader
        self.steps = steps
        self.saver = saver
    }

    /// Runs the transfer.
    ///
    /// ```swift
    /// try await TransferData(from: loader, to: saver)() { progress in
    ///     print("\(progress.doneByteCount) bytes")
    /// }
    /// ```
    ///
    /// - Parameter progress: A function that receives the progress after each chunk.
    /// - Returns: A summary of the transfer.
    /// - Throws: A ``TransferDataError`` if it is not certain that the data was saved.
    @discardableResult
    public func callAsFunction(
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws(TransferDataError) -> TransferReport {
        var draft = try await saving { () async throws(DataSaverError) in try await saver.openDraft() }
        do {
            return try await transfer(into: &draft, progress)
        } catch {
            // The next run would exceed the limit too, so the saved part would only waste space.
            if case .limitExceeded = error { try? await draft.begin() }
            await draft.leave()
            throw error
        }
    }

    private func transfer(
        into draft: inout any DataDraft,
        _ progress: (TransferProgress) -> Void
    ) async throws(TransferDataError) -> TransferReport {
        let nothing = SavedPart(source: loader.source, validator: nil, steps: steps.resumptionNames)
        var part = nothing
        var isBegun = false
        if let saved = draft.saved, saved.canBeResumed, saved.source == nothing.source, saved.steps == nothing.steps {
            part = saved
            isBegun = true
        }
        var resumedAt = part.loadedByteCount
        var restartCount = 0
        var counter = ChunkCounter(limits)
        while true {
            var loaded = try await load(at: part.loadedByteCount, of: part.validator)
            if isBegun, loaded.validator != part.validator {
                isBegun = false
                // A mismatch with the part of an earlier run does not count as a change during this run.
                if part.loadedByteCount != resumedAt { restartCount += 1 }
                guard restartCount <= Self.maximumRestarts else { throw .restless(restartCount: restartCount) }
            }
            if !isBegun {
                if loaded.chunk.offset != 0 { loaded = try await load(at: 0, of: nil) }
                try await saving { () async throws(DataSaverError) in try await draft.begin() }
                part = nothing
                part.validator = loaded.validator
                resumedAt = 0
                isBegun = true
                counter.beginVersion()
            }
            try count(loaded, after: part.loadedByteCount, &counter)
            let chunk = try chunk(of: loaded, after: part.loadedByteCount)
            let bytes = await steps.applied(to: chunk).bytes
            part.add(bytes, madeOf: chunk.bytes.count)
            if let problem = limits.problem(withByteCount: part.savedByteCount) { throw limitExceeded(problem) }
            try await saving { () async throws(DataSaverError) in try await draft.append(bytes, reaching: part) }
            progress(TransferProgress(doneByteCount: part.loadedByteCount, totalByteCount: loaded.totalByteCount))
            guard chunk.isLast else { continue }
            try await saving { () async throws(DataSaverError) in
                try await draft.publish(Checksum(value: part.checksum))
            }
            return TransferReport(part, resumedAt: resumedAt, restartCount: restartCount)
        }
    }

    private func count(
        _ loaded: LoadedChunk,
        after offset: Int,
        _ counter: inout ChunkCounter
    ) throws(TransferDataError) {
        do {
            try counter.add(loaded, after: offset)
        } catch {
            switch error {
            case .limit(let problem): throw limitExceeded(problem)
            case .contradiction(let problem): throw unreadable(problem)
            }
        }
    }

    /// Validates a loaded chunk, and returns the part of it that starts at an offset.
    private func chunk(of loaded: LoadedChunk, after offset: Int) throws(TransferDataError) -> DataChunk {
        let chunk = loaded.chunk
        guard chunk.offset <= offset, chunk.end >= offset else {
            throw unreadable("returned a chunk at offset \(chunk.offset) instead of \(offset)")
        }
        guard chunk.isLast || loaded.validator != nil else {
            throw unreadable("returned a part of its data without a validator that identifies the version")
        }
        guard chunk.isLast || chunk.end > offset else { throw unreadable("returned no data before its end") }
        if chunk.isLast, let total = loaded.totalByteCount, total != chunk.end {
            throw unreadable("ended after \(chunk.end) bytes of \(total)")
        }
        return chunk.dropping(before: offset)
    }

    private func load(at offset: Int, of validator: String?) async throws(TransferDataError) -> LoadedChunk {
        if let ending { throw ending }
        do {
            return try await loader.chunk(at: offset, of: validator)
        } catch {
            throw ending ?? .unreadable(error)
        }
    }

    private func saving<Answer>(
        _ work: () async throws(DataSaverError) -> Answer
    ) async throws(TransferDataError) -> Answer {
        if let ending { throw ending }
        do {
            return try await work()
        } catch {
            throw ending ?? .unwritable(error)
        }
    }

    /// The error that ends the transfer now, or `nil` if it may continue.
    private var ending: TransferDataError? {
        if Task.isCancelled { return .cancelled }
        return Deadline.current?.hasPassed == true ? .timedOut : nil
    }

    private func unreadable(_ explanation: String) -> TransferDataError { .unreadable(failure(explanation)) }

    private func limitExceeded(_ explanation: String) -> TransferDataError { .limitExceeded(failure(explanation)) }

    private func failure(_ explanation: String) -> DataLoaderError {
        DataLoaderError(source: loader.source ?? "The source", explanation: explanation)
    }
}

/// The progress of a transfer, in bytes of its source.
///
/// ```swift
/// try await transfer { progress in
///     guard let total = progress.totalByteCount, total > 0 else { return }
///     print("\(100 * progress.doneByteCount / total) %")
/// }
/// ```
public struct TransferProgress: Hashable, Sendable {
    /// The number of bytes transferred, including those of earlier runs.
    public let doneByteCount: Int
    /// The total number of bytes, or `nil` if it is unknown.
    public let totalByteCount: Int?

    /// Creates a progress value.
    public init(doneByteCount: Int, totalByteCount: Int?) {
        self.doneByteCount = doneByteCount
        self.totalByteCount = totalByteCount
    }
}

/// A summary of a completed transfer.
///
/// ```swift
/// let report = try await transfer()
/// print("Loaded \(report.loadedByteCount - report.resumedAt) bytes in this run.")
/// print("Saved \(report.savedByteCount) bytes in total.")
/// if report.restartCount > 0 { print("The source changed during the transfer.") }
/// ```
public struct TransferReport: Hashable, Sendable {
    /// The number of bytes loaded, in this run and in the runs that it resumed.
    public let loadedByteCount: Int
    /// The number of bytes saved.
    public let savedByteCount: Int
    /// The value of the ``Checksum`` of the saved data.
    public let checksum: UInt64
    /// The validator of the transferred version, or `nil` if the source has none.
    public let validator: String?
    /// The number of source bytes that earlier runs had transferred.
    public let resumedAt: Int
    /// How often the transfer started over because the source had changed.
    public let restartCount: Int

    init(_ part: SavedPart, resumedAt: Int, restartCount: Int) {
        loadedByteCount = part.loadedByteCount
        savedByteCount = part.savedByteCount
        checksum = part.checksum
        validator = part.validator
        self.resumedAt = resumedAt
        self.restartCount = restartCount
    }
}

/// An error thrown when a transfer fails.
///
/// ```swift
/// do throws(TransferDataError) {
///     try await TransferData(from: loader, to: saver)()
/// } catch .cancelled, .timedOut {
///     print("Run the transfer again to resume it.")
/// } catch {
///     print("\(error).")
/// }
/// ```
///
/// The destination is unchanged, with one exception: if a transfer fails or is interrupted while it publishes the data, such as
/// while a server processes an upload, the data may have been saved.
public enum TransferDataError: Error, Hashable, Sendable {
    /// The task was cancelled.
    case cancelled
    /// The deadline passed.
    case timedOut
    /// The data could not be loaded.
    case unreadable(DataLoaderError)
    /// The data could not be saved.
    case unwritable(DataSaverError)
    /// The source exceeded one of the ``TransferLimits``, which the error names. Nothing is kept for the next run.
    case limitExceeded(DataLoaderError)
    /// The source changed `restartCount` times during the run. A run starts over at most three times.
    case restless(restartCount: Int)
}

extension TransferDataError: CustomStringConvertible {
    /// A sentence, without a final period, that says what failed and why.
    public var description: String {
        switch self {
        case .cancelled: "The transfer was cancelled"
        case .timedOut: "The transfer missed its deadline"
        case .unreadable(let cause): "The data could not be loaded: \(cause)"
        case .limitExceeded(let cause): "The transfer was stopped: \(cause)"
        case .unwritable(let cause): "The data could not be saved: \(cause)"
        case .restless(let count):
            "The data changed \(count) times while it was being loaded. Try again when it no longer changes"
        }
    }
}

/// A chunk of data in a transfer, which steps can change.
///
/// ```swift
/// var chunk = DataChunk(Array("Well ".utf8), at: 0, isLast: false)
/// chunk.bytes = chunk.bytes.map { ~$0 }
/// ```
public struct DataChunk: Hashable, Sendable {
    /// The bytes. A step may replace them with any number of bytes.
    public var bytes: [UInt8]
    /// The number of source bytes before this chunk.
    public let offset: Int
    /// Whether this is the last chunk, which can be empty. A step that adds a trailer adds it to this chunk.
    public let isLast: Bool

    /// Creates a chunk.
    public init(_ bytes: [UInt8], at offset: Int, isLast: Bool) {
        self.bytes = bytes
        self.offset = offset
        self.isLast = isLast
    }

    /// The number of source bytes before the next chunk.
    var end: Int { offset + bytes.count }

    /// Returns the rest of the chunk from an offset, which must be in the chunk or at its end.
    func dropping(before offset: Int) -> DataChunk {
        guard offset > self.offset else { return self }
        return DataChunk(Array(bytes.dropFirst(offset - self.offset)), at: offset, isLast: isLast)
    }
}

/// A transfer step that another run can resume in the middle of the data.
///
/// ```swift
/// struct Inverted: ResumablePlugin {
///     let resumptionName = "inverted"
///
///     func applied(to chunk: DataChunk) async -> DataChunk {
///         var chunk = chunk
///         chunk.bytes = chunk.bytes.map { ~$0 }
///         return chunk
///     }
/// }
/// ```
///
/// The result must not depend on where the data is split into chunks: processing two adjacent chunks must give the same bytes as
/// processing them as one. As for any `Plugin`, it depends only on the bytes, the offset, and whether the chunk is the last.
public protocol ResumablePlugin: Plugin where Value == DataChunk {
    /// A text that identifies the step and all of its parameters. It must be the same in each run.
    var resumptionName: String { get }
}

extension PluginCollection<DataChunk> {
    /// The names of the steps, or `nil` if one of them is not resumable.
    var resumptionNames: [String]? {
        let names = compactMap { ($0 as? any ResumablePlugin)?.resumptionName }
        return names.count == count ? names : nil
    }
}
