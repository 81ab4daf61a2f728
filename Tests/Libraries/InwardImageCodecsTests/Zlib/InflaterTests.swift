import InwardTesting
import Testing

@testable import InwardImageCodecs

struct InflaterTests {
    /// Returns the compressed data of a fixture.
    private func data(_ name: String) throws -> [UInt8] {
        PNGFile(parsing: try Fixture.bytes(name)).chunks.filter { $0.name == "IDAT" }.flatMap(\.data)
    }

    @Test(arguments: ["stored", "fixed", "runs", "codes", "fast", "best"], [1, 2, 3, 7, 19, 64])
    func dataCanArriveInPieces(name: String, given: Int) throws {
        let data = try data("deflate-" + name)
        let count = 29 * (37 * 3 + 1)
        let whole = try #require(try Inflation.inflated(data, count: count))
        #expect(whole.count == count)
        #expect(try Inflation.inflated(data, count: count, given: given) == whole)
        #expect(try Inflation.inflated(data, count: count - 1) == nil)
        #expect(try Inflation.inflated(data, count: count + 1)?.count == count)
    }

    @Test func matchReachesBackAsFarAsTheWindow() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        let block = (0..<32_768).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let bytes = (0..<12).flatMap { _ in block }
        let data = try Deflater.compressed(bytes.span)
        #expect(data.count < 2 * block.count, "seed \(seed)")
        #expect(try Inflation.inflated(data, count: bytes.count) == bytes, "seed \(seed)")
        #expect(try Inflation.inflated(data, count: bytes.count, piece: 100_000, given: 4_096) == bytes, "seed \(seed)")
    }

    @Test func windowIsNoLargerThanNeeded() {
        #expect(Inflater(count: 10, piece: 1_000_000).window.count < 100)
        #expect(Inflater(count: 1_000_000_000, piece: 1_000).window.count < 200_000)
        #expect(Inflater.windowCount(count: 7, piece: .max) == 7)
    }

    @Test(
        arguments: [
            ([0x79, 0x9C], InflateError.header), ([0x78, 0x9D], .header), ([0x88, 0x98], .header),
            ([0x78, 0xBB], .dictionary),
            ([0x78, 0x9C, 0x07], .blockType), ([0x78, 0x9C, 0x01, 1, 0, 0, 0], .storedLength),
            ([0x78, 0x9C, 0x03, 0x62] + [UInt8](repeating: 0, count: 40), .distance),
            ([0x78, 0x9C, 0x03, 0x02, 0, 0, 0, 0], .distance),
            ([0x78, 0x9C, 0x05, 0xFF, 0xFF, 0xFF, 0xFF], .codeLengths),
            ([0x78, 0x9C, 0x03, 0, 0, 0, 0, 2], .checksum), ([0x78, 0x9C, 0x1B, 0xFF, 0xFF, 0, 0, 0, 0, 0], .code),
        ] as [([UInt8], InflateError)]
    )
    func invalidDataHasItsError(data: [UInt8], error: InflateError) {
        #expect(throws: error) { try Inflation.inflated(data, count: 1_000) }
        #expect(throws: error) { try Inflation.inflated(data, count: 1_000, given: 1) }
    }

    @Test func emptyDataIsDecompressed() throws {
        #expect(try Inflation.inflated([0x78, 0x9C, 0x03, 0, 0, 0, 0, 1], count: 0) == [])
    }

    @Test func fixedTablesAreCreatedOnce() throws {
        // An empty block with fixed codes.
        let data: [UInt8] = [0x02, 0]
        var inflaters = [Inflater(count: 10, piece: 10), Inflater(count: 10, piece: 10)]
        for index in inflaters.indices {
            var position = 0
            guard case .starved = try inflaters[index].inflate(data.span, &position, through: data.count) else {
                Issue.record("The data was complete.")
                return
            }
        }
        let (one, other) = (inflaters[0], inflaters[1])
        #expect(one.fixed.literals.contains { $0 != HuffmanTable.Entry.none })
        let isMadeOnce = (
            one.fixed.literals.span.isIdentical(to: other.fixed.literals.span),
            one.fixed.distances.span.isIdentical(to: other.fixed.distances.span)
        )
        #expect(isMadeOnce == (true, true))
    }

    /// Returns a block with dynamic codes, in which a zero and the end have one-bit codes.
    private func dynamicBlock(zeros: Int) -> [Bool] {
        func bits(_ value: Int, _ count: Int) -> [Bool] { (0..<count).map { value >> $0 & 1 == 1 } }
        // 257 literals and lengths, one distance, and 18 code length codes, of which 0, 1 and 18 are used.
        var block = bits(0, 1) + bits(2, 2) + bits(0, 5) + bits(0, 5) + bits(14, 4)
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
            block += bits([18: 1, 0: 2, 1: 2][symbol] ?? 0, 3)
        }
        // Code lengths: 1, then 138 and 117 zeros, then 1 for the end and 1 for the distance.
        block += [true, true] + bits(0, 1) + bits(127, 7) + bits(0, 1) + bits(106, 7) + [true, true, true, true]
        return block + [Bool](repeating: false, count: zeros) + [true]
    }

    private func bytes(_ bits: [Bool]) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }
        }
    }

    /// A file can contain millions of tiny blocks, so none may cost more than reading it.
    ///
    /// A single block is tested as well. After several blocks, a reallocated table could be back at its old address.
    @Test(arguments: [1, 64]) func tinyBlockAllocatesNothingAndPairsNoLiterals(blockCount: Int) throws {
        var inflater = Inflater(count: 100_000, piece: 10)
        let before = Self.tableAddresses(inflater)
        var position = 0
        let data = bytes((0..<blockCount).flatMap { _ in dynamicBlock(zeros: 3) })
        _ = try inflater.inflate(data.span, &position, through: data.count)
        #expect(inflater.available == 3 * blockCount)
        #expect(Self.tableAddresses(inflater) == before)
        #expect(!inflater.literals.entries.contains(where: Self.isPair))
        #expect(inflater.mayPairLiterals)
    }

    @Test func longBlockPairsLiterals() throws {
        var inflater = Inflater(count: 100_000, piece: 10)
        var position = 0
        let data = bytes(dynamicBlock(zeros: 80_000))
        _ = try inflater.inflate(data.span, &position, through: data.count)
        #expect(inflater.available == 80_000)
        #expect(inflater.literals.entries.contains(where: Self.isPair))
    }

    private static func isPair(_ entry: UInt32) -> Bool {
        entry & HuffmanTable.Entry.literal != 0 && entry & HuffmanTable.Entry.pair != 0
    }

    /// Returns the addresses of the tables.
    private static func tableAddresses(_ inflater: Inflater) -> [Int] {
        [inflater.codeLengths, inflater.literals, inflater.distances].map { table in
            // `unsafe`: the address is only compared.
            unsafe table.entries.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
        }
    }

    @Test(arguments: ["stored", "fixed", "best"])
    func truncatedOrChangedDataIsNeverAccepted(name: String) throws {
        let data = try data("deflate-" + name)
        let count = 29 * (37 * 3 + 1)
        for length in stride(from: 0, to: data.count, by: 1 + data.count / 100) {
            #expect(try Inflation.inflated(Array(data[..<length]), count: count) == nil)
            var changed = data
            changed[length] ^= 1 << UInt8(length % 8)
            let made = try? Inflation.inflated(changed, count: count)
            // Some bits of the zlib header do not affect the data.
            if let made, length > 1 { Issue.record("A change of byte \(length) gave \(made.count) bytes.") }
        }
    }

    @Test(arguments: 0..<8)
    func randomDataNeverHangs(round: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        for kind in 0..<40 as Range<UInt8> {
            let data = (0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let header: [UInt8] = [0x78, 0x9C, kind % 8]
            let made = try? Inflation.inflated(header + data, count: 5_000)
            #expect(made == nil, "seed \(seed)")
        }
    }
}
