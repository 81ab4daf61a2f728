extension HuffmanTable {
    /// What the symbols for literals and lengths stand for: entries without the length of a code.
    static let literalSymbols: [UInt32] = {
        let literals = (0..<256).map { Entry.literal | UInt32($0) << 16 }
        let lengths = zip(DeflateSymbol.lengthBases, DeflateSymbol.lengthExtraBits)
            .map { UInt32($0) << 16 | UInt32($1) }
        // 286 and 287 have codes among the fixed ones, and are never used.
        return literals + [Entry.special | Entry.endOfBlock] + lengths + [Entry.none, Entry.none]
    }()

    /// What the symbols for distances stand for.
    static let distanceSymbols: [UInt32] =
        zip(DeflateSymbol.distanceBases, DeflateSymbol.distanceExtraBits).map { UInt32($0) << 16 | UInt32($1) }
        + [Entry.none, Entry.none]

    /// What the symbols for the lengths of codes stand for: themselves.
    static let codeLengthSymbols = (0..<19).map { UInt32($0) << 16 }

    static let literalBits = 11
    static let distanceBits = 9
    static let codeLengthBits = 7

    /// The tables of the codes that are the same in every block (RFC 1951, section 3.2.6), made once: a block of them may be ten
    /// bits long.
    static let fixedLiterals = fixed(DeflateSymbol.fixedLengths, literalSymbols, literalBits)
    static let fixedDistances = fixed(DeflateSymbol.fixedDistanceLengths, distanceSymbols, distanceBits)

    private static func fixed(_ lengths: [UInt8], _ symbols: [UInt32], _ primaryBits: Int) -> HuffmanTable {
        // These lengths are neither too many nor too few; if they were, the table would find nothing, and each code be an error.
        (try? HuffmanTable(lengths: lengths, symbols: symbols, primaryBits: primaryBits))
            ?? HuffmanTable(primaryBits: primaryBits)
    }
}
