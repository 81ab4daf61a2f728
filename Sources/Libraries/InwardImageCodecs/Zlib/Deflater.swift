import InwardImages

/// Compresses bytes (RFC 1951) into their container (RFC 1950).
struct Deflater {
    /// A match of so many bytes is taken without a look at whether the next is longer.
    private static let lazyLength = 32

    private var finder = MatchFinder()
    private var block = DeflateBlock()
    private var writer = BitWriter()
    private var blockStart = 0

    /// The bytes, compressed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    static func compressed(_ bytes: Span<UInt8>) throws(ImageCodecError) -> [UInt8] {
        var deflater = Deflater()
        // Deflate with a window of 32 KiB, and that it was compressed as usual (RFC 1950, section 2.2).
        deflater.writer.write(0x78, 8)
        deflater.writer.write(0x9C, 8)
        try deflater.compress(bytes)
        deflater.block.write(
            to: &deflater.writer,
            bytes: bytes.extracting(deflater.blockStart..<bytes.count),
            isLast: true
        )
        deflater.writer.align()
        deflater.writer.write(Adler32.checksum(of: bytes).byteSwapped, 32)
        return deflater.writer.bytes
    }

    /// Finds what repeats. Each match waits for the next place: if a longer one begins there, a byte stands for itself.
    private mutating func compress(_ bytes: Span<UInt8>) throws(ImageCodecError) {
        var place = 0
        // None waits at the end: a match is longer than a byte, and so is what is left of it at the next place.
        var waiting: (length: Int, distance: Int)?
        while place < bytes.count {
            let length = waiting?.length ?? 0
            let match = length < Self.lazyLength ? finder.match(bytes, at: place, longerThan: length) : nil
            note(bytes, place)
            if let found = waiting, match == nil {
                // It began one place before.
                block.append(DeflateToken(length: found.length, distance: found.distance))
                let end = place - 1 + found.length
                for inside in place + 1..<max(place + 1, end) { note(bytes, inside) }
                place = end
                waiting = nil
            } else {
                if waiting != nil { block.append(DeflateToken(literal: bytes[place - 1])) }
                waiting = match
                if match == nil { block.append(DeflateToken(literal: bytes[place])) }
                place += 1
            }
            if block.isFull { try endBlock(bytes, at: waiting == nil ? place : place - 1) }
        }
    }

    private mutating func note(_ bytes: Span<UInt8>, _ place: Int) {
        guard place <= bytes.count - MatchFinder.leastLength else { return }
        finder.insert(bytes, place)
    }

    private mutating func endBlock(_ bytes: Span<UInt8>, at place: Int) throws(ImageCodecError) {
        try ImageCodecError.checkCancellation()
        block.write(to: &writer, bytes: bytes.extracting(blockStart..<place), isLast: false)
        blockStart = place
    }
}
