import InwardTransfers

/// A step that turns every bit, wherever a byte is.
struct Inverted: ResumablePlugin {
    var resumptionName: String { "inverted" }

    func applied(to value: DataChunk) async -> DataChunk {
        var value = value
        value.bytes = value.bytes.map { ~$0 }
        return value
    }
}
