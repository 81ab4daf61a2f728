import InwardImages

/// Encoded bytes, with a check for whether they contain the complete image.
///
/// Truncation is detected here because libvips does not report it reliably. It records failures only as text, in one buffer for
/// the whole process, and it tolerates a missing end of file if the pixels are complete.
struct EncodedBytes {
    /// The bytes.
    let bytes: [UInt8]
    /// The format of the bytes.
    let format: ImageFormat

    /// The number of steps between two cancellation checks.
    private static let stepsBetweenChecks = 4_096

    /// Returns whether the bytes end before the image does, judging by the structure of the format.
    ///
    /// - Throws: An `ImageCodecError` if the task is cancelled, or its deadline has passed.
    /// - Complexity: O(n) in the number of bytes.
    func isCutShort() throws(ImageCodecError) -> Bool {
        switch format {
        case .jpeg: try !hasEndOfJPEG()
        case .png: try !hasEndOfPNG()
        case .webP: bytes.count < 8 || bytes.count - 8 < integer(at: 4, count: 4, isLittleEndian: true)
        case .gif: try !hasEndOfGIF()
        case .avif, .heif: try !hasWholeBoxes()
        case .tiff: try TIFFDirectory(of: bytes.span).byteCount > bytes.count
        default: false
        }
    }

    /// Counts a step and checks for cancellation at regular intervals.
    private func count(_ steps: inout Int) throws(ImageCodecError) {
        if steps % Self.stepsBetweenChecks == 0 { try ImageCodecError.checkCancellation() }
        steps += 1
    }

    /// Reads an integer. Missing bytes count as 0.
    func integer(at offset: Int, count: Int, isLittleEndian: Bool = false) -> Int {
        var value = 0
        for index in 0..<count {
            let place = offset + (isLittleEndian ? count - 1 - index : index)
            value = value << 8 | (bytes.indices.contains(place) ? Int(bytes[place]) : 0)
        }
        return value
    }

    /// Returns whether the markers (ITU-T T.81, B.1.1) lead to an end-of-image marker. In scan data, a zero follows each FF
    /// byte.
    private func hasEndOfJPEG() throws(ImageCodecError) -> Bool {
        var steps = 0
        var index = 2
        while index + 1 < bytes.count {
            try count(&steps)
            guard bytes[index] == 0xFF else {
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case 0xD9: return true
            case 0x00, 0x01, 0xD0...0xD8: index += 2
            case 0xFF: index += 1
            default: index += 2 + max(2, integer(at: index + 2, count: 2))
            }
        }
        return false
    }

    /// Returns whether the chunks (ISO/IEC 15948, 5.3) lead to a complete `IEND`.
    private func hasEndOfPNG() throws(ImageCodecError) -> Bool {
        var steps = 0
        var index = 8
        while index + 12 <= bytes.count {
            try count(&steps)
            let isEnd = bytes[index + 4..<index + 8].elementsEqual("IEND".utf8)
            index += 12 + integer(at: index, count: 4)
            if isEnd { return index <= bytes.count }
        }
        return false
    }

    /// Returns whether the blocks (GIF 89a, 15) lead to the trailer.
    private func hasEndOfGIF() throws(ImageCodecError) -> Bool {
        var steps = 0
        /// Returns the size in bytes of the color table that a flags byte announces.
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        guard bytes.count > 13 else { return false }
        var index = 13 + table(bytes[10])
        while index < bytes.count {
            try count(&steps)
            switch bytes[index] {
            case 0x3B: return true
            case 0x2C where index + 9 < bytes.count: index += 11 + table(bytes[index + 9])
            case 0x21: index += 2
            default: return false
            }
            while index < bytes.count, bytes[index] != 0 {
                try count(&steps)
                index += 1 + Int(bytes[index])
            }
            index += 1
        }
        return false
    }

    /// Returns the length of the box (ISO/IEC 14496-12, 4.2) at an index, or `nil` if it extends beyond the bytes.
    func boxLength(at index: Int) -> Int? {
        var length = integer(at: index, count: 4)
        // 1 means that the length follows in 8 bytes, and 0 that the box extends to the end.
        if length == 1 { length = integer(at: index + 8, count: 8) }
        if length == 0 { length = bytes.count - index }
        guard length >= 8, length <= bytes.count - index else { return nil }
        return length
    }

    /// Returns whether all boxes (ISO/IEC 14496-12, 4.2) are complete and one of them contains the pixels.
    private func hasWholeBoxes() throws(ImageCodecError) -> Bool {
        var steps = 0
        var index = 0
        var hasData = false
        while index + 8 <= bytes.count {
            try count(&steps)
            if bytes[index + 4..<index + 8].elementsEqual("mdat".utf8) { hasData = true }
            guard let length = boxLength(at: index) else { return false }
            index += length
        }
        return hasData && index == bytes.count
    }
}

extension ImageFormat {
    /// Creates the format that the signature claims, or returns `nil` for any other signature.
    ///
    /// Use it for files that libvips cannot read. libvips needs more than the signature to recognize a TIFF file, and does not
    /// distinguish AVIF from HEIF.
    init?(claimedBy bytes: [UInt8]) {
        if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42]) {
            self = .tiff
        } else if bytes.dropFirst(4).starts(with: "ftypavif".utf8) || bytes.dropFirst(4).starts(with: "ftypavis".utf8) {
            self = .avif
        } else {
            return nil
        }
    }
}

/// Encoded bytes whose image size libvips can read in a short time.
///
/// To count the images in a TIFF file, libvips reads every directory. With many directories, this takes seconds and cannot be
/// cancelled. Only the first image is decoded, so the offset of the second directory is set to zero in a copy. The number of
/// boxes in an AVIF or HEIF file is limited for the same reason. libheif took six seconds for a million empty boxes.
struct CheckedImage {
    /// The maximum number of top-level boxes in an AVIF or HEIF file. Files with one image have fewer than 10.
    static let maximumBoxCount = 1_024

    let bytes: [UInt8]
    /// The number of pixels in a TIFF tile, or 0 if there are no tiles.
    private(set) var tilePixelCount = 0
    /// The number of bytes that were copied.
    private(set) var copiedByteCount = 0

    /// Checks encoded bytes.
    ///
    /// - Throws: An `ImageCodecError` if the bytes are not safe to pass to libvips, or if the task is cancelled.
    init(_ bytes: [UInt8]) throws(ImageCodecError) {
        // There is no check for files with 8-byte offsets (BigTIFF), so their decoding time and memory are unknown.
        guard !bytes.starts(with: [0x49, 0x49, 43, 0]), !bytes.starts(with: [0x4D, 0x4D, 0, 43]) else {
            throw ImageCodecError(.unsupported(.tiff), "is a TIFF with 8-byte offsets, which is not supported")
        }
        // Microsoft Document Imaging, which libtiff would read as TIFF.
        guard !bytes.starts(with: [0x45, 0x50, 42, 0]) else {
            throw ImageCodecError(.unrecognized, "is a Microsoft Document Imaging file, which is not supported")
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

    /// Rejects a file with too many boxes (ISO/IEC 14496-12, 4.2).
    private static func checkBoxes(of bytes: [UInt8]) throws(ImageCodecError) {
        let encoded = EncodedBytes(bytes: bytes, format: ImageFormat(claimedBy: bytes) ?? .heif)
        var index = 0
        var count = 0
        while index + 8 <= bytes.count {
            count += 1
            guard count <= maximumBoxCount else {
                throw ImageCodecError(
                    .unsupported(encoded.format),
                    "has more than the \(maximumBoxCount) boxes allowed"
                )
            }
            guard let length = encoded.boxLength(at: index) else { return }
            index += length
        }
    }
}
