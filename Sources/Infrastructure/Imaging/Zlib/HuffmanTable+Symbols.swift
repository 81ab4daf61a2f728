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
}
