public import InwardCore

/// A piece of data on its way, as the steps of a transfer see it.
public struct DataPiece: Hashable, Sendable {
    /// The bytes. A step may make others of them, more or fewer.
    public var bytes: [UInt8]
    /// How many bytes of the source come before it.
    public let offset: Int
    /// Whether it is the last: what a step wants to add to the end it adds to this one. It may be without a byte.
    public let isLast: Bool

    /// Makes a piece.
    public init(_ bytes: [UInt8], at offset: Int, isLast: Bool) {
        self.bytes = bytes
        self.offset = offset
        self.isLast = isLast
    }

    /// How many bytes of the source come before the next piece.
    var end: Int { offset + bytes.count }

    /// What is behind an offset, which lies in the piece or at its end.
    func dropping(before offset: Int) -> DataPiece {
        guard offset > self.offset else { return self }
        return DataPiece(Array(bytes.dropFirst(offset - self.offset)), at: offset, isLast: isLast)
    }
}

/// A step of a transfer that another run can take up in the middle.
///
/// What it makes of a piece depends on the bytes, the offset and whether it is the last, as with every `Plugin`, and not on where
/// the pieces are cut: two pieces give what both together would.
public protocol ResumablePlugin: Plugin where Value == DataPiece {
    /// What the step does, in words that are the same in each run: all that it goes by must be in them.
    var resumptionName: String { get }
}

extension PluginCollection<DataPiece> {
    /// What the steps do, in words; `nil` if one of them cannot be taken up in the middle.
    var resumptionNames: [String]? {
        let names = compactMap { ($0 as? any ResumablePlugin)?.resumptionName }
        return names.count == count ? names : nil
    }
}
