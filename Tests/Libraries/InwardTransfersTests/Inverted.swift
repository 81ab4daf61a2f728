import InwardTransfers

/// A step that turns every bit, wherever a byte is.
struct Inverted: ResumablePlugin {
    var resumptionName: String { "inverted" }

    func applied(to value: DataPiece) async -> DataPiece {
        var value = value
        value.bytes = value.bytes.map { ~$0 }
        return value
    }
}
