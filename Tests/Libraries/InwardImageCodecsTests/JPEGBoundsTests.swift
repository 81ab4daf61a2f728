import InwardImages
import Testing

@testable import InwardImageCodecs

/// Tests that small or hostile files cause little work.
struct JPEGBoundsTests {
    private static let start: [UInt8] = [0xFF, 0xD8]
    private static let quantization = segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }

    private static func frame(_ marker: UInt8, side: Int, _ factors: [UInt8] = [0x11, 0x11, 0x11]) -> [UInt8] {
        let sides = [UInt8(side >> 8), UInt8(side & 255), UInt8(side >> 8), UInt8(side & 255)]
        let components: [UInt8] = factors.enumerated().flatMap { [UInt8($0.offset), $0.element, 0] as [UInt8] }
        let start: [UInt8] = [8] + sides + [UInt8(factors.count)]
        return segment(marker, start + components)
    }

    private static let scan = segment(0xDA, [3, 0, 0, 1, 0, 2, 0, 0, 63, 0])

    private func reason(_ bytes: [UInt8], _ options: ImageDecodingOptions) -> ImageCodecError.Reason? {
        do throws(ImageCodecError) {
            _ = try JPEGCodec().image(from: bytes, options)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [0xC0, 0xC2] as [UInt8], [1, 2, 4, 8])
    func fileThatIsTooShortForItsBlocksIsTruncated(marker: UInt8, reduction: Int) {
        // A hundred bytes whose header would need memory for millions of blocks.
        let bytes = Self.start + Self.quantization + Self.frame(marker, side: 7_000)
        for rest in [[], [0xFF], Self.scan + [0, 0]] as [[UInt8]] {
            for allowsTruncation in [false, true] {
                let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
                #expect(reason(bytes + rest, options) == .truncated(.jpeg))
            }
        }
    }

    @Test(arguments: [false, true]) func completeFileWithoutAScanIsDamaged(allowsTruncation: Bool) {
        let bytes = Self.start + Self.quantization + Self.frame(0xC0, side: 16) + [0xFF, 0xD9]
        #expect(reason(bytes, ImageDecodingOptions(allowsTruncation: allowsTruncation)) == .damaged(.jpeg))
    }

    @Test func workingBytesCoverTheSamplesOfEveryReduction() throws {
        let factors: [UInt8] = [0x11, 0x12, 0x14, 0x21, 0x22, 0x41, 0x42, 0x44, 0x33]
        var others: Set<Int> = []
        for side in [1, 7, 8, 9, 16, 17, 100, 1_000] {
            for (one, other) in factors.flatMap({ one in factors.map { (one, $0) } }) {
                let bytes = Self.frame(0xC0, side: side, [one, other, 0x11])
                let frame = try JPEGFrame(0xC0, bytes.span, 4..<bytes.count)
                let most = [1, 2, 4, 8].map { JPEGLayout(frame, reduction: $0).sampleCount }.max() ?? 0
                let header = try JPEGCodec().header(of: Self.start + bytes + Self.scan)
                others.insert(header.workingBytes - most - JPEGStrips(frame).workingBytes(sampleCount: most))
            }
        }
        // The rest of the working memory does not depend on the image.
        #expect(others.count == 1)
    }

    @Test func tablesArePreparedOnlyForAScan() throws {
        // A thousand tables, each with a single one-bit code for a different symbol.
        let counts: [UInt8] = [1] + [UInt8](repeating: 0, count: 15)
        let content: [UInt8] = (0..<1_000).flatMap { [0 as UInt8] + counts + [UInt8($0 % 11)] }
        var tables = JPEGTables()
        try tables.read(0xC4, content.span, content.indices)
        #expect(tables.huffman.start(ofAC: false, 0) == nil)
        #expect(tables.huffman.entries.allSatisfy { $0 == 0 })
        try tables.prepare(content.span)
        var alone = JPEGHuffmanTables()
        try alone.define(ac: false, 0, counts: counts, values: [9], at: 0)
        let start = try #require(tables.huffman.start(ofAC: false, 0))
        #expect(tables.huffman.entries[start..<start + 1_024] == alone.entries[start..<start + 1_024])
        // Tables 0 and 1 that the file does not define are those of annex K.
        #expect(tables.huffman.start(ofAC: true, 1) != nil)
        #expect(tables.huffman.start(ofAC: true, 2) == nil)
    }

    @Test func invalidTableIsReportedWhenAScanNeedsIt() throws {
        let table = Self.segment(0xC4, [0, 3] + [UInt8](repeating: 0, count: 15) + [0, 1, 2])
        let bytes = Self.start + Self.quantization + table + Self.frame(0xC0, side: 8)
        #expect(try JPEGCodec().header(of: bytes).size == ImageSize(width: 8, height: 8))
        let error = try #require(throws: ImageCodecError.self) {
            _ = try JPEGCodec().image(from: bytes + Self.scan + [0, 0, 0, 0, 0xFF, 0xD9], ImageDecodingOptions())
        }
        #expect(error.reason == .damaged(.jpeg))
        #expect(error.explanation == "has a Huffman table with too many codes, at byte \(2 + 69 + 4)")
    }

    @Test func cancelledTaskStopsReadingSegments() async {
        let bytes = Self.start + Array(repeatElement(Self.quantization, count: 10).joined())
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                #expect(throws: ImageCodecError.cancelled) { try JPEGCodec().header(of: bytes) }
                #expect(throws: ImageCodecError.cancelled) {
                    try JPEGCodec().image(from: bytes, ImageDecodingOptions(allowsTruncation: true))
                }
            }
        }
    }
}
