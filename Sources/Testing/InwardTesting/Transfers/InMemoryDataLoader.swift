public import InwardTransfers
import Synchronization

/// A data loader for bytes in memory, which a test can replace during a transfer.
///
/// ```swift
/// let loader = InMemoryDataLoader([1, 2, 3, 4, 5, 6], chunkByteCount: 4)
/// let first = try await loader.chunk(at: 0, of: nil)
/// loader.replace(with: [7, 8], validator: "2")
/// let second = try await loader.chunk(at: 4, of: first.validator)
/// #expect(second.validator == "2")
/// ```
public final class InMemoryDataLoader: DataLoader {
    /// A request to the loader.
    public struct Question: Hashable, Sendable {
        /// The requested offset.
        public let offset: Int
        /// The requested version, or `nil` for any.
        public let validator: String?

        /// Creates a request to the loader.
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

    /// The name of the source.
    public let source: String?
    private let chunkByteCount: Int
    private let whenAsked: @Sendable (InMemoryDataLoader, Question) throws(DataLoaderError) -> Void
    private let state: Mutex<State>

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to load.
    ///   - validator: The version, or `nil` for an unversioned source that is loaded in one chunk.
    ///   - chunkByteCount: The number of bytes per chunk, at least 1.
    ///   - source: The name of the source, or `nil` for none.
    ///   - whenAsked: Called before each chunk, for example to replace the bytes, to fail, or to cancel a task.
    public init(
        _ bytes: [UInt8],
        validator: String? = "1",
        chunkByteCount: Int = 4,
        source: String? = "The memory",
        whenAsked: @escaping @Sendable (InMemoryDataLoader, Question) throws(DataLoaderError) -> Void = { _, _ in }
    ) {
        self.source = source
        self.chunkByteCount = max(1, chunkByteCount)
        self.whenAsked = whenAsked
        state = Mutex(State(bytes: bytes, validator: validator))
    }

    /// The requests so far, in order.
    public var questions: [Question] { state.withLock(\.questions) }

    /// Replaces the bytes with another version.
    public func replace(with bytes: [UInt8], validator: String?) {
        state.withLock { state in
            state.bytes = bytes
            state.validator = validator
        }
    }

    /// Returns the chunk of the current version at an offset, even if another version was requested.
    ///
    /// - Throws: The prescribed `DataLoaderError`, or one for a cancelled task.
    public func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
        let question = Question(offset: offset, validator: validator)
        state.withLock { $0.questions.append(question) }
        try whenAsked(self, question)
        guard !Task.isCancelled else {
            throw DataLoaderError(source: source ?? "The memory", explanation: "was cancelled")
        }
        return state.withLock { state in
            let isWhole = state.validator == nil
            let start = isWhole ? 0 : min(max(0, offset), state.bytes.count)
            let bytes = Array(state.bytes.dropFirst(start).prefix(isWhole ? state.bytes.count : chunkByteCount))
            return LoadedChunk(
                DataChunk(bytes, at: start, isLast: start + bytes.count == state.bytes.count),
                validator: state.validator,
                totalByteCount: state.bytes.count
            )
        }
    }
}
