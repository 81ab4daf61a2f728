import InwardImages
import Testing

@testable import InwardVips

struct EncodedImageTests {
    /// A JPEG with a thumbnail that ends before the scan.
    private let photograph: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE1, 0, 8, 1, 2, 0xFF, 0xD9, 3, 4, 0xFF, 0xDA, 0, 3, 9]
        + [0x11, 0xFF, 0x00, 0xD9, 0xFF, 0xD0, 0x22, 0xFF, 0xFF, 0xD9]

    @Test func endOfAThumbnailIsNotTheEndOfTheImage() throws {
        #expect(try !EncodedBytes(bytes: photograph, format: .jpeg).isCutShort())
        for length in 0..<photograph.count {
            #expect(try EncodedBytes(bytes: Array(photograph.prefix(length)), format: .jpeg).isCutShort(), "\(length)")
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webP, .gif, .avif, .heif, .tiff])
    func arbitraryBytesDoNotTrap(format: ImageFormat) {
        for filling: UInt8 in [0, 1, 0x21, 0x2C, 0x7F, 0x80, 0xFF] {
            for count in 0..<80 {
                _ = try? EncodedBytes(bytes: [UInt8](repeating: filling, count: count), format: format).isCutShort()
            }
        }
    }

    @Test func fileWithABoxBeyondTheEndIsTruncated() throws {
        let box: [UInt8] = [0, 0, 0, 12] + Array("mdat".utf8) + [1, 2, 3, 4]
        #expect(try !EncodedBytes(bytes: box, format: .avif).isCutShort())
        #expect(try EncodedBytes(bytes: Array(box.dropLast()), format: .avif).isCutShort())
        let long: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0, 0, 0, 0, 17, 9]
        #expect(try !EncodedBytes(bytes: long, format: .heif).isCutShort())
        #expect(try EncodedBytes(bytes: Array(long.dropLast()), format: .heif).isCutShort())
        let endless: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)
        #expect(try EncodedBytes(bytes: endless, format: .heif).isCutShort())
    }

    /// libheif took six seconds for a million boxes.
    @Test func fileWithTooManyBoxesIsRejected() throws {
        let brand: [UInt8] = [0, 0, 0, 20] + Array("ftypavif".utf8) + [0, 0, 0, 0] + Array("avif".utf8)
        let box: [UInt8] = [0, 0, 0, 8] + Array("free".utf8)
        func file(_ count: Int) -> [UInt8] { brand + [[UInt8]](repeating: box, count: count - 1).joined() }
        #expect(try CheckedImage(file(CheckedImage.maximumBoxCount)).copiedByteCount == 0)
        let error = #expect(throws: ImageCodecError.self) { try CheckedImage(file(CheckedImage.maximumBoxCount + 1)) }
        #expect(error?.reason == .unsupported(.avif))
    }
}
