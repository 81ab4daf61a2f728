import InwardImages

/// The second bytes of markers (T.81 table B.1).
enum JPEGMarker {
    static let baselineFrame: UInt8 = 0xC0
    static let extendedFrame: UInt8 = 0xC1
    static let progressiveFrame: UInt8 = 0xC2
    static let huffmanTables: UInt8 = 0xC4
    static let extensions: UInt8 = 0xC8
    static let arithmeticConditioning: UInt8 = 0xCC
    static let firstRestart: UInt8 = 0xD0
    static let startOfImage: UInt8 = 0xD8
    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    static let quantizationTables: UInt8 = 0xDB
    static let numberOfLines: UInt8 = 0xDC
    static let restartInterval: UInt8 = 0xDD
    static let hierarchicalProgression: UInt8 = 0xDE
    static let jfif: UInt8 = 0xE0
    static let exif: UInt8 = 0xE1
    static let adobe: UInt8 = 0xEE
    static let losslessFrameLS: UInt8 = 0xF7

    /// Returns whether a marker is RST, SOI or TEM, which have no segment.
    static func isAlone(_ marker: UInt8) -> Bool {
        (firstRestart...startOfImage).contains(marker) || marker == 0x01
    }

    /// Returns whether a marker begins a frame of any kind.
    static func beginsFrame(_ marker: UInt8) -> Bool {
        switch marker {
        case huffmanTables, extensions, arithmeticConditioning: false
        case 0xC0...0xCF, losslessFrameLS: true
        default: false
        }
    }

    /// Returns the unsupported feature of a frame, as the rest of a sentence, or `nil` if the frame is supported.
    static func obstacle(to marker: UInt8) -> String? {
        switch marker {
        case baselineFrame, extendedFrame, progressiveFrame: nil
        case 0xC3: "is lossless"
        case losslessFrameLS: "is in JPEG-LS"
        case 0xC5...0xC7: "is hierarchical"
        case 0xC9, 0xCA: "uses arithmetic coding"
        case 0xCB: "is lossless and uses arithmetic coding"
        default: "is hierarchical and uses arithmetic coding"
        }
    }
}

/// A reader of markers and segments (T.81 annex B.1.1).
struct JPEGMarkerReader {
    /// The position at which the search for the next marker begins.
    var position = 0

    /// Reads the start of a file.
    ///
    /// - Throws: An error if the bytes are not a JPEG file.
    mutating func start(in data: Span<UInt8>) throws(ImageCodecError) {
        guard data.count >= 2, data[0] == 0xFF, data[1] == JPEGMarker.startOfImage else {
            throw ImageCodecError(.unrecognized, "is not a JPEG file")
        }
        position = 2
    }

    /// Returns the next marker. Bytes before it are skipped, because some cameras leave data there.
    ///
    /// - Throws: An error if the file ends before a marker.
    mutating func next(in data: Span<UInt8>) throws(ImageCodecError) -> UInt8 {
        while position &+ 1 < data.count {
            if data[position] == 0xFF, data[position &+ 1] != 0, data[position &+ 1] != 0xFF {
                position += 2
                return data[position &- 1]
            }
            position += 1
        }
        throw .truncatedJPEG(at: data.count)
    }

    /// Skips everything up to the end of the image.
    ///
    /// - Throws: An error if the file ends before it, or if the task is cancelled.
    consuming func passToEnd(of data: Span<UInt8>) throws(ImageCodecError) {
        var count = 0
        while try next(in: data) != JPEGMarker.endOfImage {
            count += 1
            if count % 64 == 0 { try ImageCodecError.checkCancellation() }
        }
    }

    /// Returns the range of the current marker's segment, and skips it.
    ///
    /// - Throws: An error if the file ends within the segment, or if its length is invalid.
    mutating func segment(in data: Span<UInt8>) throws(ImageCodecError) -> Range<Int> {
        guard position + 2 <= data.count else { throw .truncatedJPEG(at: data.count) }
        let length = Int(data[position]) << 8 | Int(data[position + 1])
        guard length >= 2 else { throw .damagedJPEG("has the invalid segment length \(length), at byte \(position)") }
        guard position + length <= data.count else { throw .truncatedJPEG(at: data.count) }
        defer { position += length }
        return position + 2..<position + length
    }
}
