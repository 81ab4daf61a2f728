import InwardCore
import InwardTransfers

/// A step that drops every other byte, and appends the total number of bytes.
struct Ended: Plugin {
    func applied(to value: DataChunk) async -> DataChunk {
        var value = value
        let end = value.offset + value.bytes.count
        value.bytes = value.bytes.enumerated().filter { ($0.offset + value.offset).isMultiple(of: 2) }.map(\.element)
        if value.isLast { value.bytes.append(UInt8(end)) }
        return value
    }
}
