import InwardImageCodecs
import InwardImages
import Testing

struct OrientationExifTests {
    private static let start = Array("MM\0*".utf8) + [0, 0, 0, 8] as [UInt8]
    private static let right: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
    /// The same orientation as a 32-bit number, which is not valid for this tag.
    private static let wide: [UInt8] = [0x01, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 6]

    private static let examples: [(exif: [UInt8], orientation: Orientation)] = [
        (start + [0, 1] + right, .right), (start + [0, 1] + wide, .up), (start + [0, 2] + wide + right, .up),
        (start + [0, 2] + right + wide, .right), (start + [0, 1] + right.dropLast(), .up),
        (start + [0, 0] + right, .up),
        // A directory that overlaps the header.
        (Array("MM\0*".utf8) + [0, 0, 0, 6, 0, 1] + right, .up),
        (Array("MM\0+".utf8) + [0, 0, 0, 8, 0, 1] + right, .up),
        (start + [0, 1] + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 9, 0, 0], .up),
    ]

    @Test(arguments: examples) func bothCodecsReadTheSameOrientation(exif: [UInt8], orientation: Orientation) throws {
        var png = PNGFile(parsing: try Fixture.bytes("passes-3x5"))
        png.chunks.insert(("eXIf", exif), at: 1)
        #expect(try PNGCodec().header(of: png.bytes).orientation == orientation)
        let content = Array("Exif\0\0".utf8) + exif
        let segment = [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
        let jpeg = try JPEGFixture.bytes("baseline-7x9")
        let bytes = Array(jpeg[..<2]) + segment + Array(jpeg[2...])
        #expect(try JPEGCodec().header(of: bytes).orientation == orientation)
    }
}
