/// The codes of a Huffman table, as encoding needs them (T.81 annex C.2).
struct JPEGHuffmanCodes {
    /// For each symbol its code, and in bits 16 to 23 how many bits it has; 0 where the table has none.
    private(set) var codes = [UInt32](repeating: 0, count: 256)

    init(_ table: JPEGStandardTables.Huffman) {
        var code: UInt32 = 0
        var next = 0
        for length in 1...16 {
            code <<= 1
            for _ in 0..<Int(table.counts[length - 1]) {
                codes[Int(table.values[next])] = code | UInt32(length) << 16
                code += 1
                next += 1
            }
        }
    }
}
