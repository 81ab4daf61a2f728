import InwardTransfers

/// A resumable step that inverts every bit.
struct Inverted: ResumablePlugin {
    var resumptionName: String { "inverted" }

    func applied(to value: DataChunk) async -> DataChunk {
        var value = value
        value.bytes = value.bytes.map { ~$0 }
        return value
    }
}
