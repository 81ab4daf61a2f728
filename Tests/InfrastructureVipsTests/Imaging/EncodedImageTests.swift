#if Vips
import Entities
@testable import InfrastructureVips
import Testing

struct EncodedImageTests {
    /// A JPEG in which a thumbnail comes to its end before the scan does.
    private let photograph: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE1, 0, 8, 1, 2, 0xFF, 0xD9, 3, 4, 0xFF, 0xDA, 0, 3, 9]
        + [0x11, 0xFF, 0x00, 0xD9, 0xFF, 0xD0, 0x22, 0xFF, 0xFF, 0xD9]

    @Test func theEndOfAThumbnailIsNotThatOfThePicture() {
        #expect(!EncodedImage(bytes: photograph, format: .jpeg).isCutShort)
        for length in 0..<photograph.count {
            #expect(EncodedImage(bytes: Array(photograph.prefix(length)), format: .jpeg).isCutShort, "\(length)")
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webP, .gif, .avif, .heif, .tiff])
    func anyBytesAreLookedAtWithoutATrap(format: ImageFormat) {
        for filling: UInt8 in [0, 1, 0x21, 0x2C, 0x7F, 0x80, 0xFF] {
            for count in 0..<80 {
                _ = EncodedImage(bytes: [UInt8](repeating: filling, count: count), format: format).isCutShort
            }
        }
    }

    @Test func boxesThatEndBehindTheFileAreCutShort() {
        let box: [UInt8] = [0, 0, 0, 12] + Array("mdat".utf8) + [1, 2, 3, 4]
        #expect(!EncodedImage(bytes: box, format: .avif).isCutShort)
        #expect(EncodedImage(bytes: Array(box.dropLast()), format: .avif).isCutShort)
        let long: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0, 0, 0, 0, 17, 9]
        #expect(!EncodedImage(bytes: long, format: .heif).isCutShort)
        #expect(EncodedImage(bytes: Array(long.dropLast()), format: .heif).isCutShort)
        let endless: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)
        #expect(EncodedImage(bytes: endless, format: .heif).isCutShort)
    }
}
#endif
