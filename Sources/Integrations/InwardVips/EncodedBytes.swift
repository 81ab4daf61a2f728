import InwardImages

/// Encoded bytes, looked at from outside: whether they go as far as the image says.
///
/// libvips notes failures in one place for the whole process, in words; so it is found out here, and not there, whether bytes
/// were cut short. It also lets the end of a file be missing as long as the pixels are there.
struct EncodedBytes {
    /// The bytes.
    let bytes: [UInt8]
    /// The form they are in.
    let format: ImageFormat

    /// How many steps are made between two looks at whether the task was cancelled.
    private static let stepsBetweenChecks = 4_096

    /// Whether they end before the image does, as far as their form tells.
    ///
    /// - Throws: an `ImageCodecError` if the task was cancelled, or its deadline has passed.
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

    /// Counts a step of a walk through the bytes.
    private func count(_ steps: inout Int) throws(ImageCodecError) {
        if steps % Self.stepsBetweenChecks == 0 { try ImageCodecError.checkCancellation() }
        steps += 1
    }

    /// A number; 0 for each byte that is not there.
    func integer(at offset: Int, count: Int, isLittleEndian: Bool = false) -> Int {
        var value = 0
        for index in 0..<count {
            let place = offset + (isLittleEndian ? count - 1 - index : index)
            value = value << 8 | (bytes.indices.contains(place) ? Int(bytes[place]) : 0)
        }
        return value
    }

    /// Whether the markers (ITU-T T.81, B.1.1) lead to one that ends the image. What stands for a byte of FF in the data of a
    /// scan is followed by a zero.
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

    /// Whether the chunks (ISO/IEC 15948, 5.3) lead to an `IEND` that is whole.
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

    /// Whether the blocks (GIF 89a, 15) lead to the trailer.
    private func hasEndOfGIF() throws(ImageCodecError) -> Bool {
        var steps = 0
        /// How many bytes a table of colours takes that a byte of flags speaks of.
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

    /// How long the box (ISO/IEC 14496-12, 4.2) at an index is; `nil` if it does not end where the bytes do or before.
    func boxLength(at index: Int) -> Int? {
        var length = integer(at: index, count: 4)
        // 1 says that the length follows in 8 bytes, and 0 that the box goes to the end.
        if length == 1 { length = integer(at: index + 8, count: 8) }
        if length == 0 { length = bytes.count - index }
        guard length >= 8, length <= bytes.count - index else { return nil }
        return length
    }

    /// Whether each box (ISO/IEC 14496-12, 4.2) ends where the bytes do or before, and the pixels' box is there.
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
    /// The form that bytes claim to be in by how they begin, where libvips does not tell it of those that it cannot read: of
    /// TIFF it reads more to recognize it, and AVIF and HEIF are one to it.
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

/// Encoded bytes as libvips gets them, checked for what would keep it busy before it tells the size of the image.
///
/// libvips reads every directory of a TIFF file, one after the other, to count the images in it. That takes seconds where the
/// directories are many, and is not cancelled. Only the first image is decoded here, so the offset of the second directory is
/// set to zero in a copy. The boxes of an AVIF or HEIF file are limited in number for the same reason: a million empty ones took
/// libheif six seconds.
struct CheckedImage {
    /// The most boxes that an AVIF or HEIF file may have side by side. Files of one image have fewer than 10.
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
        let encoded = EncodedBytes(bytes: bytes, format: ImageFormat(claimedBy: bytes) ?? .heif)
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
