import InwardImages

/// A compressor for Deflate (RFC 1951) in the zlib format (RFC 1950).
struct Deflater {
    /// The length of a match that is used at once. After a shorter match, the next position is searched for a longer one.
    private static let lazyLength = 32

    private var block = DeflateBlock()
    private var writer = BitWriter()

    /// Returns the compressed bytes.
    ///
    /// - Throws: An `ImageCodecError` if the task is cancelled.
    static func compressed(_ bytes: Span<UInt8>) throws(ImageCodecError) -> [UInt8] {
        var deflater = Deflater()
        // Deflate with a 32 KiB window and the default compression level (RFC 1950, section 2.2).
        deflater.writer.write(0x78, 8)
        deflater.writer.write(0x9C, 8)
        try deflater.compress(bytes)
        deflater.writer.align()
        deflater.writer.write(Adler32.checksum(of: bytes).byteSwapped, 32)
        return deflater.writer.bytes
    }

    /// Finds matches lazily: if a longer match begins at the next position, the current byte becomes a literal.
    ///
    /// The arrays are accessed as spans, because a check at each access whether an array is shared would take a quarter of the time.
    private mutating func compress(_ bytes: Span<UInt8>) throws(ImageCodecError) {
        var storedLinks = MatchFinder.links
        var links = storedLinks.mutableSpan
        var storedTokens = [DeflateToken](repeating: DeflateToken(literal: 0), count: DeflateBlock.maximumTokens)
        var tokens = storedTokens.mutableSpan
        var count = 0
        var blockStart = 0
        var place = 0
        // No match is pending at the end, because a match is longer than one byte and the next position resolves it.
        var waiting = DeflateMatch.none
        while place < bytes.count {
            let candidate = MatchFinder.insert(place, of: bytes, into: &links)
            let match =
                waiting.length < Self.lazyLength
                ? MatchFinder.match(bytes, at: place, longerThan: waiting.length, from: candidate, links.span) : .none
            if waiting.length > 0, match.length == 0 {
                // The match began one position earlier.
                tokens[count] = DeflateToken(length: waiting.length, distance: waiting.distance)
                count &+= 1
                let end = place &- 1 &+ waiting.length
                place &+= 1
                while place < end {
                    _ = MatchFinder.insert(place, of: bytes, into: &links)
                    place &+= 1
                }
                waiting = .none
            } else {
                if waiting.length > 0 || match.length == 0 {
                    tokens[count] = DeflateToken(literal: bytes[waiting.length > 0 ? place &- 1 : place])
                    count &+= 1
                }
                waiting = match
                place &+= 1
            }
            if count == DeflateBlock.maximumTokens {
                try ImageCodecError.checkCancellation()
                let end = waiting.length > 0 ? place &- 1 : place
                block.write(tokens.span, of: bytes.extracting(blockStart..<end), to: &writer, isLast: false)
                blockStart = end
                count = 0
            }
        }
        let rest = bytes.extracting(blockStart..<bytes.count)
        block.write(tokens.span.extracting(0..<count), of: rest, to: &writer, isLast: true)
    }
}
