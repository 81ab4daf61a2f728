import InwardImageCodecs
import InwardImages
import Testing

struct PNGDecodingTests {
    @Test func everyFixtureIsListed() {
        #expect(Fixture.all.count == 100)
    }

    @Test(arguments: Fixture.all)
    func everyKindOfImageIsDecodedCorrectly(fixture: Fixture) throws {
        let bytes = try Fixture.bytes(fixture.name)
        let image = try PNGCodec().image(from: bytes, ImageDecodingOptions())
        #expect(image.size == ImageSize(width: fixture.width, height: fixture.height))
        #expect(Fixture.checksum(of: image.bytes) == fixture.checksum)
        let header = try PNGCodec().header(of: bytes)
        #expect(header.size == image.size)
        #expect(header.format == .png)
        #expect(header.reductions == [1])
    }

    @Test(arguments: [0, 127, 128, 129, 255, 256, 257, 385, 32_767, 32_768, 65_279, 65_535])
    func sixteenBitSamplesAreRoundedToEightBits(level: Int) throws {
        let row = [0, UInt8(level >> 8), UInt8(level & 255)]
        let file = PNGFile([try PNGFile.data(row)], width: 1, height: 1, depth: 16, kind: 0)
        let image = try PNGCodec().image(from: file.bytes, ImageDecodingOptions())
        let nearest = UInt8((Double(level) * 255 / 65_535).rounded())
        #expect(image.bytes == [nearest, nearest, nearest, 255])
    }

    @Test func dataAfterTheEndIsIgnored() throws {
        let bytes = try Fixture.bytes("pillow")
        let image = try PNGCodec().image(from: bytes, ImageDecodingOptions())
        #expect(try PNGCodec().image(from: bytes + [1, 2, 3], ImageDecodingOptions(reduction: 8)) == image)
    }

    @Test(arguments: Orientation.allCases, [0x49, 0x4D] as [UInt8])
    func orientationIsReadFromExifBeforeTheData(orientation: Orientation, order: UInt8) throws {
        var exif: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 10, 9, 9, 0, 2]
        exif += [
            1, 0, 0, 3, 0, 0, 0, 1, 0, 7, 0, 0, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0,
        ]
        if order == 0x49 {
            exif = [0x49, 0x49, 42, 0, 10, 0, 0, 0, 9, 9, 2, 0]
            exif += [
                0, 1, 3, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation.rawValue), 0, 0, 0,
            ]
        }
        var file = PNGFile(parsing: try Fixture.bytes("passes-3x5"))
        file.chunks.insert(("eXIf", exif), at: 1)
        #expect(try PNGCodec().header(of: file.bytes).orientation == orientation)
        #expect(try PNGCodec().image(from: file.bytes, ImageDecodingOptions()).orientation == orientation)
        for count in exif.indices {
            file.chunks[1].data = Array(exif[..<count])
            let cut = try PNGCodec().header(of: file.bytes).orientation
            #expect(cut == .up || cut == orientation)
        }
    }

    @Test func headerOfAnImageWithTruncatedPixelsIsRead() throws {
        var image = Image(size: ImageSize(clamping: 20, 10), color: .black)
        image.orientation = .left
        let bytes = try PNGCodec().bytes(of: image, as: .png)
        let header = try PNGCodec().header(of: bytes)
        let data = try #require(bytes.indices.first { bytes[$0...].starts(with: "IDAT".utf8) })
        for count in data + 4...bytes.count {
            #expect(try PNGCodec().header(of: Array(bytes[..<count])) == header)
        }
        #expect(throws: ImageCodecError.self) { try PNGCodec().header(of: Array(bytes[..<data])) }
    }

    @Test func cancelledTaskDecodesAndEncodesNothing() async throws {
        let bytes = try Fixture.bytes("large")
        let image = try PNGCodec().image(from: bytes, ImageDecodingOptions())
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                #expect(throws: ImageCodecError.cancelled) {
                    try PNGCodec().image(from: bytes, ImageDecodingOptions(allowsTruncation: true))
                }
                #expect(throws: ImageCodecError.cancelled) { try PNGCodec().bytes(of: image, as: .png) }
            }
        }
    }
}
