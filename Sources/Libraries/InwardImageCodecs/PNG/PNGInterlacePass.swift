/// One of the seven parts that an interlaced PNG is sent in (ISO/IEC 15948, section 8), or all of one that is not.
struct PNGInterlacePass {
    let firstColumn: Int
    let firstRow: Int
    let columnStep: Int
    let rowStep: Int

    static let whole = [PNGInterlacePass(firstColumn: 0, firstRow: 0, columnStep: 1, rowStep: 1)]
    static let adam7 = [
        PNGInterlacePass(firstColumn: 0, firstRow: 0, columnStep: 8, rowStep: 8),
        PNGInterlacePass(firstColumn: 4, firstRow: 0, columnStep: 8, rowStep: 8),
        PNGInterlacePass(firstColumn: 0, firstRow: 4, columnStep: 4, rowStep: 8),
        PNGInterlacePass(firstColumn: 2, firstRow: 0, columnStep: 4, rowStep: 4),
        PNGInterlacePass(firstColumn: 0, firstRow: 2, columnStep: 2, rowStep: 4),
        PNGInterlacePass(firstColumn: 1, firstRow: 0, columnStep: 2, rowStep: 2),
        PNGInterlacePass(firstColumn: 0, firstRow: 1, columnStep: 1, rowStep: 2),
    ]

    /// How many pixels a row of it has in a picture of a width.
    func columns(in width: Int) -> Int { width > firstColumn ? (width - firstColumn - 1) / columnStep + 1 : 0 }

    /// How many rows it has in a picture of a height.
    func rows(in height: Int) -> Int { height > firstRow ? (height - firstRow - 1) / rowStep + 1 : 0 }
}
