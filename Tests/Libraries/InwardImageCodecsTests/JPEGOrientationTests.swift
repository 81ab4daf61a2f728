import InwardImageCodecs
import InwardImages
import Testing

struct JPEGOrientationTests {
    private let codec = JPEGCodec()

    private func encoded(_ orientation: Orientation) throws -> [UInt8] {
        var image = Image(size: ImageSize(clamping: 9, 5), color: .black)
        image.orientation = orientation
        return try codec.bytes(of: image, as: .jpeg())
    }

    /// Returns the range of a segment, including its marker and length.
    private func segment(_ marker: UInt8, of bytes: [UInt8]) throws -> Range<Int> {
        let start = try #require(
            bytes.indices.first { $0 + 3 < bytes.count && bytes[$0] == 0xFF && bytes[$0 + 1] == marker }
        )
        return start..<start + 2 + Int(bytes[start + 2]) << 8 + Int(bytes[start + 3])
    }

    @Test(arguments: Orientation.allCases) func imageHasTheOrientationOfItsHeader(orientation: Orientation) throws {
        let bytes = try encoded(orientation)
        #expect(try codec.header(of: bytes).orientation == orientation)
        #expect(try codec.image(from: bytes, ImageDecodingOptions()).orientation == orientation)
    }

    @Test func exifAfterTheFrameIsIgnored() throws {
        var bytes = try encoded(.left)
        let exif = try segment(0xE1, of: bytes)
        let removed = bytes[exif]
        bytes.removeSubrange(exif)
        bytes.insert(contentsOf: removed, at: try segment(0xC0, of: bytes).upperBound)
        #expect(try codec.header(of: bytes).orientation == .up)
        #expect(try codec.image(from: bytes, ImageDecodingOptions()).orientation == .up)
    }
}
