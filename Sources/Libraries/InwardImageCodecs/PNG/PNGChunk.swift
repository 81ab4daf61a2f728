/// A piece of a PNG (ISO/IEC 15948, section 5.3).
struct PNGChunk {
    let type: PNGChunkType
    /// Where it begins, with its length.
    let start: Int
    /// Where its data are.
    let data: Range<Int>

    /// Where it is, for whoever reads of an error in it.
    var place: String { "\(type) at byte \(start)" }
}
