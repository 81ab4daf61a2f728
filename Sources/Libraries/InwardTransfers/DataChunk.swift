public import InwardCore

/// A chunk of data in a transfer, as the transfer's steps see it.
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

/// A transfer step that another run can resume in the middle.
///
/// Like any `Plugin`, the result depends only on the bytes, the offset, and whether the chunk is the last. In addition,
/// it must not depend on where the chunks are split: two chunks give the same result as both together.
public protocol ResumablePlugin: Plugin where Value == DataChunk {
    /// A text that identifies the step and everything that its result depends on. It must be the same in each run.
    var resumptionName: String { get }
}

extension PluginCollection<DataChunk> {
    /// The names of the steps, or `nil` if one of them is not resumable.
    var resumptionNames: [String]? {
        let names = compactMap { ($0 as? any ResumablePlugin)?.resumptionName }
        return names.count == count ? names : nil
    }
}
