import Testing

@testable import Infrastructure

struct HuffmanTableTests {
    private func table(_ lengths: [UInt8]) throws(InflateError) -> HuffmanTable {
        try HuffmanTable(lengths: lengths, symbols: HuffmanTable.codeLengthSymbols, primaryBits: 7)
    }

    @Test(arguments: [[1, 1, 1], [2, 2, 2, 2, 2], [2, 2, 2], [2], [1, 2], [15], [1, 15]] as [[UInt8]])
    func codesThatAreTooManyOrTooFewAreRefused(lengths: [UInt8]) {
        #expect(throws: InflateError.codeLengths) { try table(lengths) }
    }

    @Test(arguments: [[], [0, 0], [1], [0, 1], [1, 1], [2, 1, 2]] as [[UInt8]])
    func codesThatAreAsManyAsTheirLengthsSayAreTaken(lengths: [UInt8]) throws {
        #expect(try table(lengths).entries.count == 128)
    }

    @Test func codesThatAreLongerThanTheFirstLookAreFoundByTwo() throws {
        let lengths = (1...15).map { UInt8($0) } + [15]
        let table = try table(lengths)
        // The code of a length is all ones, but for its last bit.
        for (symbol, length) in lengths.enumerated() {
            let bits = symbol == 15 ? 0x7FFF : 1 << (Int(length) - 1) - 1
            var entry = table.entries[bits & 0x7F]
            if entry & HuffmanTable.Entry.subtable != 0 {
                let rest = bits >> 7 & (1 << HuffmanTable.Entry.bits(entry) - 1)
                entry = table.entries[HuffmanTable.Entry.value(entry) + rest]
            }
            #expect(HuffmanTable.Entry.value(entry) == symbol)
            #expect(HuffmanTable.Entry.bits(entry) == Int(length))
        }
    }
}
