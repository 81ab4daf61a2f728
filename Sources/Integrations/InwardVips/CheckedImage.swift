import InwardImages

/// Encoded bytes as libvips gets them, checked for what would keep it busy before it tells the size of the picture.
///
/// libvips reads every directory of a TIFF file, one after the other, to count the pictures in it. That takes seconds where the
/// directories are many, and is not cancelled. Only the first picture is decoded here, so the offset of the second directory is
/// set to zero in a copy. The boxes of an AVIF or HEIF file are limited in number for the same reason: a million empty ones took
/// libheif six seconds.
struct CheckedImage {
    /// The most boxes that an AVIF or HEIF file may have side by side. Files of one picture have fewer than 10.
    static let maximumBoxCount = 1_024

    let bytes: [UInt8]
    /// How many pixels a tile has; 0 if there are no tiles.
    private(set) var tilePixelCount = 0
    /// How many bytes were copied.
    private(set) var copiedByteCount = 0

    /// Checks bytes.
    ///
    /// - Throws: an `ImageCodecError` if they are a TIFF file that libvips must not get, or if the task was cancelled.
    init(_ bytes: [UInt8]) throws(ImageCodecError) {
        // What is in a file with offsets of 8 bytes is not looked at, and so not how much time and memory it takes.
        guard !bytes.starts(with: [0x49, 0x49, 43, 0]), !bytes.starts(with: [0x4D, 0x4D, 0, 43]) else {
            throw ImageCodecError(.unsupported(.tiff), "is a TIFF with offsets of 8 bytes, which is not read")
        }
        // Microsoft Document Imaging, which libtiff reads like TIFF.
        guard !bytes.starts(with: [0x45, 0x50, 42, 0]) else {
            throw ImageCodecError(.unrecognized, "is a document of MDI, which is not read")
        }
        if bytes.dropFirst(4).starts(with: "ftyp".utf8) { try Self.checkBoxes(of: bytes) }
        guard TIFFDirectory.isTIFF(bytes) else {
            self.bytes = bytes
            return
        }
        let directory = try TIFFDirectory(of: bytes.span)
        tilePixelCount = directory.tilePixelCount
        guard let position = directory.nextOffsetPosition else {
            self.bytes = bytes
            return
        }
        var copy = bytes
        for index in position..<position + 4 { copy[index] = 0 }
        copiedByteCount = copy.count
        self.bytes = copy
    }

    /// Refuses a file of too many boxes (ISO/IEC 14496-12, 4.2).
    private static func checkBoxes(of bytes: [UInt8]) throws(ImageCodecError) {
        let encoded = EncodedImage(bytes: bytes, format: ImageFormat(claimedBy: bytes) ?? .heif)
        var index = 0
        var count = 0
        while index + 8 <= bytes.count {
            count += 1
            guard count <= maximumBoxCount else {
                throw ImageCodecError(
                    .unsupported(encoded.format),
                    "has more than \(maximumBoxCount) boxes, which is more than are read"
                )
            }
            guard let length = encoded.boxLength(at: index) else { return }
            index += length
        }
    }
}
