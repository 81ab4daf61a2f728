import InwardImageCodecs
import InwardImages
import Testing

struct ImageFormatSignatureTests {
    private static func boxes(_ brand: String, _ others: String...) -> [UInt8] {
        let names = others.joined()
        return [0, 0, 0, UInt8(16 + names.utf8.count)] + Array("ftyp\(brand)".utf8) + [0, 0, 0, 0] + Array(names.utf8)
    }

    private static let known: [([UInt8], ImageFormat)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png), ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg),
        (Array("RIFF....WEBPVP8X".utf8), .webP), (Array("GIF87a".utf8), .gif), (Array("GIF89a".utf8), .gif),
        (boxes("avif"), .avif), (boxes("mif1", "miaf", "avif"), .avif), (boxes("heic", "mif1"), .heif),
        (boxes("mif1", "heic"), .heif), (boxes("mif1"), .heif), (Array("II*\0".utf8), .tiff),
        (Array("MM\0*".utf8), .tiff), (Array("BM6".utf8), .bmp), ([0, 0, 1, 0, 1, 0], .ico),
        ([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jpeg2000),
        ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jpegXL), ([0xFF, 0x0A], .jpegXL),
        (Array("<svg xmlns=".utf8), .svg), (Array("\u{FEFF}\n<?xml version='1.0'?><!-- a --><svg>".utf8), .svg),
        (Array("8BPS".utf8), .psd),
    ]

    @Test(arguments: known)
    func formatIsDetectedFromTheSignature(bytes: [UInt8], format: ImageFormat) {
        #expect(ImageFormat(signatureOf: bytes) == format)
        for count in 0..<min(2, bytes.count) { #expect(ImageFormat(signatureOf: Array(bytes[..<count])) == nil) }
    }

    @Test(arguments: [
        "", "RIFF....WAVE", "<html><svg></html>", "<?xml version='1.0'?><a/>", "svg", "\0\0\0\u{10}ftypisom\0\0\0\0",
        "%PDF",
    ])
    func otherDataHasNoFormat(text: String) {
        #expect(ImageFormat(signatureOf: Array(text.utf8)) == nil)
    }
}
