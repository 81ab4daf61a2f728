public import InwardTransfers
import Synchronization

/// A data loader of bytes in memory, which a test can change on the way.
public final class InMemoryDataLoader: DataLoader {
    /// What was asked of a loader.
    public struct Question: Hashable, Sendable {
        /// From where on.
        public let offset: Int
        /// Of which version; `nil` for any.
        public let validator: String?

        /// Makes a question.
        public init(offset: Int, validator: String?) {
            self.offset = offset
            self.validator = validator
        }
    }

    private struct State {
        var bytes: [UInt8]
        var validator: String?
        var questions: [Question] = []
    }

    /// What the source is called.
    public let source: String?
    private let pieceByteCount: Int
    private let whenAsked: @Sendable (InMemoryDataLoader, Question) throws(DataLoaderError) -> Void
    private let state: Mutex<State>

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - bytes: What it loads.
    ///   - validator: What tells the version; `nil` for nothing, and all in one piece.
    ///   - pieceByteCount: How many bytes are loaded at once, at least 1.
    ///   - source: What the source is called; `nil` for no name.
    ///   - whenAsked: Called before each piece: to replace what is loaded, to fail, to cancel a task.
    public init(
        _ bytes: [UInt8],
        validator: String? = "1",
        pieceByteCount: Int = 4,
        source: String? = "The memory",
        whenAsked: @escaping @Sendable (InMemoryDataLoader, Question) throws(DataLoaderError) -> Void = { _, _ in }
    ) {
        self.source = source
        self.pieceByteCount = max(1, pieceByteCount)
        self.whenAsked = whenAsked
        state = Mutex(State(bytes: bytes, validator: validator))
    }

    /// What was asked so far, in its order.
    public var questions: [Question] { state.withLock(\.questions) }

    /// Puts another version in the place of what is loaded.
    public func replace(with bytes: [UInt8], validator: String?) {
        state.withLock { state in
            state.bytes = bytes
            state.validator = validator
        }
    }

    /// The bytes from an offset on, of the version that there is.
    ///
    /// - Throws: the `DataLoaderError` that it is to fail with, or one that says that the task was cancelled.
    public func piece(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedPiece {
        let question = Question(offset: offset, validator: validator)
        state.withLock { $0.questions.append(question) }
        try whenAsked(self, question)
        guard !Task.isCancelled else {
            throw DataLoaderError(source: source ?? "The memory", explanation: "was cancelled")
        }
        return state.withLock { state in
            let isWhole = state.validator == nil
            let start = isWhole ? 0 : min(max(0, offset), state.bytes.count)
            let bytes = Array(state.bytes.dropFirst(start).prefix(isWhole ? state.bytes.count : pieceByteCount))
            return LoadedPiece(
                DataPiece(bytes, at: start, isLast: start + bytes.count == state.bytes.count),
                validator: state.validator,
                totalByteCount: state.bytes.count
            )
        }
    }
}
