public import InwardCore

/// A piece of data in a transfer, as the transfer's steps see it.
public struct DataPiece: Hashable, Sendable {
    /// The bytes. A step may replace them with any number of bytes.
    public var bytes: [UInt8]
    /// The number of source bytes before this piece.
    public let offset: Int
    /// Whether this is the last piece, which can be empty. A step that adds a trailer adds it to this piece.
    public let isLast: Bool

    /// Creates a piece.
    public init(_ bytes: [UInt8], at offset: Int, isLast: Bool) {
        self.bytes = bytes
        self.offset = offset
        self.isLast = isLast
    }

    /// The number of source bytes before the next piece.
    var end: Int { offset + bytes.count }

    /// Returns the rest of the piece from an offset, which must be in the piece or at its end.
    func dropping(before offset: Int) -> DataPiece {
        guard offset > self.offset else { return self }
        return DataPiece(Array(bytes.dropFirst(offset - self.offset)), at: offset, isLast: isLast)
    }
}

/// A transfer step that another run can resume in the middle.
///
/// Like any `Plugin`, the result depends only on the bytes, the offset, and whether the piece is the last. In addition,
/// it must not depend on where the pieces are split: two pieces give the same result as both together.
public protocol ResumablePlugin: Plugin where Value == DataPiece {
    /// A text that identifies the step and everything that its result depends on. It must be the same in each run.
    var resumptionName: String { get }
}

extension PluginCollection<DataPiece> {
    /// The names of the steps, or `nil` if one of them is not resumable.
    var resumptionNames: [String]? {
        let names = compactMap { ($0 as? any ResumablePlugin)?.resumptionName }
        return names.count == count ? names : nil
    }
}
