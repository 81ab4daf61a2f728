import InwardTesting
import Testing

@testable import InwardImageCodecs

struct HuffmanTableTests {
    private func table(_ lengths: [UInt8]) throws(InflateError) -> HuffmanTable {
        try HuffmanTable(lengths: lengths, symbols: HuffmanTable.codeLengthSymbols, primaryBits: 7)
    }

    @Test(arguments: [[1, 1, 1], [2, 2, 2, 2, 2], [2, 2, 2], [2], [1, 2], [15], [1, 15]] as [[UInt8]])
    func oversubscribedAndIncompleteCodesAreRejected(lengths: [UInt8]) {
        #expect(throws: InflateError.codeLengths) { try table(lengths) }
    }

    @Test(arguments: [[], [0, 0], [1], [0, 1], [1, 1], [2, 1, 2]] as [[UInt8]])
    func completeAndSingleCodesAreAccepted(lengths: [UInt8]) throws {
        _ = try table(lengths)
    }

    @Test func redefinedTableEqualsANewOne() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        var reused = HuffmanTable(primaryBits: HuffmanTable.literalBits)
        for round in 0..<300 {
            let lengths = Self.lengths(count: Int.random(in: 2...286, using: &generator), &generator)
            try reused.define(lengths: lengths.span, symbols: HuffmanTable.literalSymbols)
            if round % 3 == 0 { reused.pairLiterals() } else { try Self.check(reused, lengths, "seed \(seed)") }
        }
    }

    /// Returns random lengths of a complete code.
    private static func lengths(count: Int, _ generator: inout SplitMix64) -> [UInt8] {
        var used: [UInt8] = [1, 1]
        while used.count < count, let index = used.indices.filter({ used[$0] < 15 }).randomElement(using: &generator) {
            used[index] += 1
            used.append(used[index])
            if Int.random(in: 0..<40, using: &generator) == 0 { break }
        }
        return (used + [UInt8](repeating: 0, count: count - used.count)).shuffled(using: &generator)
    }

    /// Looks up every code (RFC 1951, section 3.2.2), followed by ones and by zeros.
    private static func check(_ table: HuffmanTable, _ lengths: [UInt8], _ comment: Comment) throws {
        let code = HuffmanCode(lengths: lengths)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            for rest in [0, -1] {
                let bits = Int(code.codes[symbol]) | rest << Int(length)
                var entry = table.entries[bits & (1 << table.primaryBits - 1)]
                if entry & HuffmanTable.Entry.special != 0, entry & HuffmanTable.Entry.subtable != 0 {
                    let index = bits >> table.primaryBits & (1 << HuffmanTable.Entry.bits(entry) - 1)
                    entry = table.entries[HuffmanTable.Entry.value(entry) + index]
                }
                #expect(entry == HuffmanTable.literalSymbols[symbol] + UInt32(length) * 0x101, comment)
            }
        }
    }

    @Test func longCodesAreFoundInASecondTable() throws {
        let lengths = (1...15).map { UInt8($0) } + [15]
        let table = try table(lengths)
        // Each code consists of ones, followed by a zero. Only the last code has no zero.
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
