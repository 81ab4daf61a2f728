import InwardImages
import Testing

@testable import InwardImageCodecs

struct PNGDataReaderTests {
    /// Four empty blocks with fixed codes, ten bits each.
    private static let fixed: [UInt8] = [0x02, 0x08, 0x20, 0x80, 0x00]
    /// An empty stored block, as encoders write it when they flush.
    private static let stored: [UInt8] = [0x00, 0x00, 0x00, 0xFF, 0xFF]

    /// Returns an image of two rows whose data begins with empty blocks.
    private func file(after blocks: [UInt8], count: Int) throws -> PNGFile {
        let data = try PNGFile.data([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        let empty = Array(repeatElement(blocks, count: count).joined())
        return PNGFile([("IDAT", Array(data.data[..<2]) + empty + Array(data.data[2...]))])
    }

    @Test(arguments: [fixed, stored])
    func emptyBlocksDoNotChangeTheImage(blocks: [UInt8]) throws {
        let image = try PNGCodec().image(from: file(after: blocks, count: 0).bytes, ImageDecodingOptions())
        for count in [1, 2, 7, 14_000] {
            let bytes = try file(after: blocks, count: count).bytes
            #expect(try PNGCodec().image(from: bytes, ImageDecodingOptions()) == image, "\(count)")
        }
    }

    @Test func inputPerCallIsLimited() throws {
        let file = try file(after: Self.fixed, count: 30_000)
        var reader = PNGDataReader(try PNGPreamble(file.bytes))
        let start = reader.position
        guard case .starved = try reader.inflate() else {
            Issue.record("All data was read at once.")
            return
        }
        #expect(reader.position == start + PNGDataReader.maximumAtOnce)
        guard case .starved = try reader.inflate() else {
            Issue.record("There was less data than expected.")
            return
        }
        #expect(reader.position == start + 2 * PNGDataReader.maximumAtOnce)
    }

    @Test func cancelledTaskReadsNoData() async throws {
        let bytes = try file(after: Self.fixed, count: 1).bytes
        let preamble = try PNGPreamble(bytes)
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                var reader = PNGDataReader(preamble)
                #expect(throws: ImageCodecError.cancelled) { try reader.inflate() }
                #expect(throws: ImageCodecError.cancelled) { try reader.finish() }
                #expect(throws: ImageCodecError.cancelled) { try PNGCodec().header(of: bytes) }
            }
        }
    }
}
