public import InwardCore

/// Takes data from any loader through any steps to any saver, piece by piece.
///
/// The next piece is loaded when the one before it is saved, so there is one in memory, and what the steps made of it. What is
/// saved has been read back and compared, and takes the place of what was there when it is whole and not before.
///
/// A transfer that ends early, however it does, leaves what it has to the next run, which goes on from there if the source has
/// still the same version, and begins anew otherwise. A source that changes on the way is begun anew too: what is saved is never a
/// mixture of versions. Steps are taken up in the middle only if each is a ``ResumablePlugin``; with others each run begins anew.
public struct TransferData: Sendable {
    /// How often a source may change before it is given up.
    private static let maximumRestarts = 3

    private let loader: any DataLoader
    private let steps: PluginCollection<DataPiece>
    private let saver: any DataSaver
    private let limits: TransferLimits

    /// Makes the use case.
    ///
    /// - Parameters:
    ///   - loader: Where the data comes from.
    ///   - steps: What is done to each piece on the way, in this order.
    ///   - saver: Where the data goes.
    ///   - limits: When a source is given up that may never end.
    public init(
        from loader: any DataLoader,
        through steps: PluginCollection<DataPiece> = PluginCollection(),
        to saver: any DataSaver,
        limits: TransferLimits = TransferLimits()
    ) {
        self.limits = limits
        self.loader = loader
        self.steps = steps
        self.saver = saver
    }

    /// Transfers the data.
    ///
    /// - Parameter progress: Called after each piece with how far it is.
    /// - Returns: what was done.
    /// - Throws: a ``TransferDataError`` if it is not known to be saved.
    @discardableResult
    public func callAsFunction(
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws(TransferDataError) -> TransferReport {
        var draft = try await saving { () async throws(DataSaverError) in try await saver.openDraft() }
        do {
            return try await transfer(into: &draft, progress)
        } catch {
            // The next run would pass the limit too: what is saved would only take up room.
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
        var counter = PieceCounter(limits)
        while true {
            var loaded = try await load(at: part.loadedByteCount, of: part.validator)
            if isBegun, loaded.validator != part.validator {
                isBegun = false
                // That it is not what an earlier run left says nothing of how often it changes.
                if part.loadedByteCount != resumedAt { restartCount += 1 }
                guard restartCount <= Self.maximumRestarts else { throw .restless(restartCount: restartCount) }
            }
            if !isBegun {
                if loaded.piece.offset != 0 { loaded = try await load(at: 0, of: nil) }
                try await saving { () async throws(DataSaverError) in try await draft.begin() }
                part = nothing
                part.validator = loaded.validator
                resumedAt = 0
                isBegun = true
                counter.beginVersion()
            }
            try count(loaded, after: part.loadedByteCount, &counter)
            let piece = try piece(of: loaded, behind: part.loadedByteCount)
            let bytes = await steps.applied(to: piece).bytes
            part.add(bytes, madeOf: piece.bytes.count)
            if let problem = limits.problem(withByteCount: part.savedByteCount) { throw limitExceeded(problem) }
            try await saving { () async throws(DataSaverError) in try await draft.append(bytes, reaching: part) }
            progress(TransferProgress(doneByteCount: part.loadedByteCount, totalByteCount: loaded.totalByteCount))
            guard piece.isLast else { continue }
            try await saving { () async throws(DataSaverError) in
                try await draft.publish(Checksum(value: part.checksum))
            }
            return TransferReport(part, resumedAt: resumedAt, restartCount: restartCount)
        }
    }

    private func count(
        _ loaded: LoadedPiece,
        after offset: Int,
        _ counter: inout PieceCounter
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

    /// What a loaded piece has behind so many bytes.
    private func piece(of loaded: LoadedPiece, behind offset: Int) throws(TransferDataError) -> DataPiece {
        let piece = loaded.piece
        guard piece.offset <= offset, piece.end >= offset else {
            throw unreadable("gave what is at \(piece.offset) in place of what is at \(offset)")
        }
        guard piece.isLast || loaded.validator != nil else {
            throw unreadable("gave a part, and nothing to tell the version that it is a part of")
        }
        guard piece.isLast || piece.end > offset else { throw unreadable("gave nothing before its end") }
        if piece.isLast, let total = loaded.totalByteCount, total != piece.end {
            throw unreadable("ended after \(piece.end) bytes of \(total)")
        }
        return piece.dropping(before: offset)
    }

    private func load(at offset: Int, of validator: String?) async throws(TransferDataError) -> LoadedPiece {
        if let ending { throw ending }
        do {
            return try await loader.piece(at: offset, of: validator)
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

    /// Why the task is to end now; `nil` if it may go on.
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

/// How far a transfer is, in bytes of its source.
public struct TransferProgress: Hashable, Sendable {
    /// How many bytes are done, those of earlier runs among them.
    public let doneByteCount: Int
    /// How many there are; `nil` if that is not known.
    public let totalByteCount: Int?

    /// Says how far a transfer is.
    public init(doneByteCount: Int, totalByteCount: Int?) {
        self.doneByteCount = doneByteCount
        self.totalByteCount = totalByteCount
    }
}

/// What a transfer that is done has done.
public struct TransferReport: Hashable, Sendable {
    /// How many bytes were loaded for it, in this run and in those that it goes on from.
    public let loadedByteCount: Int
    /// How many bytes were saved.
    public let savedByteCount: Int
    /// The value of the ``Checksum`` of what was saved.
    public let checksum: UInt64
    /// Which version was transferred; `nil` if nothing tells.
    public let validator: String?
    /// How many bytes of the source earlier runs had done already.
    public let resumedAt: Int
    /// How often it was begun anew, because the source had changed on the way.
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

/// Why data was not transferred. The target is what it was before, unless it is not known whether it was saved.
public enum TransferDataError: Error, Hashable, Sendable {
    /// The caller gave up.
    case cancelled
    /// The deadline passed first.
    case timedOut
    /// The data could not be loaded.
    case unreadable(DataLoaderError)
    /// The data could not be saved.
    case unwritable(DataSaverError)
    /// The source passed one of the ``TransferLimits``. The error names the limit. Nothing is kept for the next run.
    case limitExceeded(DataLoaderError)
    /// The data became another each time that it was begun anew, this many times.
    case restless(restartCount: Int)
}

extension TransferDataError: CustomStringConvertible {
    /// What could not be done and why, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .cancelled: "The transfer was cancelled"
        case .timedOut: "The transfer was not done in time"
        case .unreadable(let cause): "The data could not be loaded: \(cause)"
        case .limitExceeded(let cause): "The transfer was given up: \(cause)"
        case .unwritable(let cause): "The data could not be saved: \(cause)"
        case .restless(let count):
            "The data changed \(count) times while it was being loaded. Try again when it is at rest"
        }
    }
}
