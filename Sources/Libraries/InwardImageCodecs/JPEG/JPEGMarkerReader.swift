import InwardImages

/// Walks from marker to marker, and from segment to segment (T.81 annex B.1.1).
struct JPEGMarkerReader {
    /// Where the next marker is looked for.
    var position = 0

    /// Reads what a file begins with.
    ///
    /// - Throws: that it is no JPEG file.
    mutating func start(in data: Span<UInt8>) throws(ImageCodecError) {
        guard data.count >= 2, data[0] == 0xFF, data[1] == JPEGMarker.startOfImage else {
            throw ImageCodecError(.unrecognized, "does not begin as a JPEG file does")
        }
        position = 2
    }

    /// The next marker. What stands before it is passed over, as there are cameras that leave something there.
    ///
    /// - Throws: that the file ends before one.
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

    /// Passes over everything up to the end of the picture.
    ///
    /// - Throws: that the file ends before it, or that the task was cancelled.
    consuming func passToEnd(of data: Span<UInt8>) throws(ImageCodecError) {
        var count = 0
        while try next(in: data) != JPEGMarker.endOfImage {
            count += 1
            if count % 64 == 0 { try ImageCodecError.checkCancellation() }
        }
    }

    /// Where the content of the segment is whose marker was read; passes over it.
    ///
    /// - Throws: that the file ends in it, or that it cannot be as short as it says.
    mutating func segment(in data: Span<UInt8>) throws(ImageCodecError) -> Range<Int> {
        guard position + 2 <= data.count else { throw .truncatedJPEG(at: data.count) }
        let length = Int(data[position]) << 8 | Int(data[position + 1])
        guard length >= 2 else { throw .damagedJPEG("has a segment of \(length) bytes at byte \(position)") }
        guard position + length <= data.count else { throw .truncatedJPEG(at: data.count) }
        defer { position += length }
        return position + 2..<position + length
    }
}
