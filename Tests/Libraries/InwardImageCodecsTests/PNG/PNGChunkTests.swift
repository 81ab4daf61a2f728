import InwardImageCodecs
import InwardImages
import Testing

struct PNGChunkTests {
    private typealias Chunk = (name: String, data: [UInt8])

    private static let rows: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    private static let numbers: [UInt8] = [0, 0, 1, 1, 0, 1, 0, 1]
    private static let palette: [UInt8] = [1, 2, 3, 4, 5, 6]

    private func reason(_ file: PNGFile) -> ImageCodecError.Reason? {
        do throws(ImageCodecError) {
            _ = try PNGCodec().image(from: file.bytes, ImageDecodingOptions())
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func validChunkOrderIsAccepted() throws {
        let data = try PNGFile.data(Self.rows)
        let half = data.data.count / 2
        let pieces: [Chunk] = [("IDAT", Array(data.data[..<half])), ("IDAT", []), ("IDAT", Array(data.data[half...]))]
        #expect(reason(PNGFile([data])) == nil)
        #expect(reason(PNGFile(pieces)) == nil)
        #expect(reason(PNGFile(data.data.map { ("IDAT", [$0]) })) == nil)
        #expect(reason(PNGFile([("teXt", [1])] + [data] + [("tIME", [2])])) == nil)
        #expect(reason(PNGFile([("PLTE", Self.palette), data])) == nil)
        #expect(reason(PNGFile([("IDAT", data.data + [7, 7, 7])])) == nil)
        let numbers = try PNGFile.data(Self.numbers)
        #expect(reason(PNGFile([("PLTE", Self.palette), ("tRNS", [9, 8]), numbers], kind: 3)) == nil)
    }

    @Test func invalidChunkOrderIsRejected() throws {
        let data = try PNGFile.data(Self.rows)
        let numbers = try PNGFile.data(Self.numbers)
        let header = PNGFile([]).chunks[0]
        let halves: [Chunk] = [
            ("IDAT", Array(data.data[..<9])), ("tEXt", []), ("IDAT", Array(data.data[9...])),
        ]
        let wrong: [PNGFile] = [
            PNGFile([header, data]), PNGFile([data, header]), PNGFile(halves), PNGFile([data, ("tEXt", []), data]),
            PNGFile([data, ("PLTE", Self.palette)]), PNGFile([data, ("tRNS", [0, 1, 0, 2, 0, 3])]),
            PNGFile([("PLTE", Self.palette), ("PLTE", Self.palette), data]),
            PNGFile([("tRNS", [0, 1, 0, 2, 0, 3]), ("PLTE", Self.palette), data]),
            PNGFile([("tRNS", [1]), ("PLTE", Self.palette), numbers], kind: 3), PNGFile([numbers], kind: 3),
            PNGFile([]), PNGFile([("IEND", []), data]),
            PNGFile([("PLTE", Self.palette), numbers], kind: 0), PNGFile([("tRNS", [0, 0]), data], kind: 6),
        ]
        for (index, file) in wrong.enumerated() { #expect(reason(file) == .damaged(.png), "file \(index)") }
        var headless = PNGFile([data])
        headless.chunks.removeFirst()
        #expect(reason(headless) == .damaged(.png))
        #expect(reason(PNGFile([data], end: false)) == .truncated(.png))
    }

    @Test func chunksOfInvalidLengthAreRejected() throws {
        let data = try PNGFile.data(Self.rows)
        let numbers = try PNGFile.data(Self.numbers)
        for length in [0, 1, 2, 4, 771] {
            let palette: Chunk = ("PLTE", [UInt8](repeating: 0, count: length))
            #expect(reason(PNGFile([palette, numbers], kind: 3)) == .damaged(.png))
        }
        #expect(reason(PNGFile([("PLTE", Self.palette), ("tRNS", [1, 2, 3]), numbers], kind: 3)) == .damaged(.png))
        #expect(reason(PNGFile([("tRNS", [1, 2, 3]), data])) == .damaged(.png))
        var file = PNGFile([data])
        file.chunks[0].data.append(0)
        #expect(reason(file) == .damaged(.png))
        file = PNGFile([data])
        file.chunks[2].data = [0]
        #expect(reason(file) == .damaged(.png))
    }

    @Test func unknownCriticalChunkIsUnsupported() throws {
        let data = try PNGFile.data(Self.rows)
        #expect(reason(PNGFile([("ABCD", []), data])) == .unsupported(.png))
        #expect(reason(PNGFile([data, ("ABCD", [])])) == .unsupported(.png))
        #expect(reason(PNGFile([("aBCD", []), data])) == nil)
        #expect(reason(PNGFile([("a1CD", []), data])) == .damaged(.png))
    }

    @Test func unknownMethodsAndColorTypesAreRejected() throws {
        let data = try PNGFile.data(Self.rows)
        for (depth, kind) in [(3, 0), (4, 2), (16, 3), (4, 4), (0, 6), (8, 1), (8, 5), (8, 7)] as [(UInt8, UInt8)] {
            #expect(reason(PNGFile([data], depth: depth, kind: kind)) == .damaged(.png))
        }
        #expect(reason(PNGFile([data], interlace: 2)) == .damaged(.png))
        for index in [10, 11] {
            var file = PNGFile([data])
            file.chunks[0].data[index] = 1
            #expect(reason(file) == .damaged(.png))
        }
    }

    @Test func invalidRowsAreRejected() throws {
        var rows = Self.rows
        rows[10] = 5
        #expect(reason(PNGFile([try PNGFile.data(rows)])) == .damaged(.png))
        #expect(reason(PNGFile([try PNGFile.data(Self.rows + [0])])) == .damaged(.png))
        #expect(reason(PNGFile([try PNGFile.data(Array(Self.rows.dropLast()))])) == .damaged(.png))
        var numbers = Self.numbers
        numbers[3] = 2
        #expect(reason(PNGFile([("PLTE", Self.palette), try PNGFile.data(numbers)], kind: 3)) == .damaged(.png))
        // A wrong checksum of the compressed data, in a chunk with a valid checksum.
        var data = try PNGFile.data(Self.rows)
        data.data[data.data.count - 1] ^= 1
        #expect(reason(PNGFile([data])) == .damaged(.png))
    }
}
