import InwardImages

/// A compressor for Deflate (RFC 1951) in the zlib format (RFC 1950).
struct Deflater {
    /// The length of a match that is used at once. After a shorter match, the next position is searched for a longer one.
    private static let lazyLength = 32

    private var finder = MatchFinder()
    private var block = DeflateBlock()
    private var writer = BitWriter()
    private var blockStart = 0

    /// Returns the compressed bytes.
    ///
    /// - Throws: An `ImageCodecError` if the task is cancelled.
    static func compressed(_ bytes: Span<UInt8>) throws(ImageCodecError) -> [UInt8] {
        var deflater = Deflater()
        // Deflate with a 32 KiB window and the default compression level (RFC 1950, section 2.2).
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

    /// Finds matches lazily: if a longer match begins at the next position, the current byte becomes a literal.
    private mutating func compress(_ bytes: Span<UInt8>) throws(ImageCodecError) {
        var place = 0
        // No match is pending at the end, because a match is longer than one byte and the next position resolves it.
        var waiting: (length: Int, distance: Int)?
        while place < bytes.count {
            let length = waiting?.length ?? 0
            let match = length < Self.lazyLength ? finder.match(bytes, at: place, longerThan: length) : nil
            note(bytes, place)
            if let found = waiting, match == nil {
                // The match began one position earlier.
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

/// A finder of earlier occurrences, with hash chains of four-byte sequences.
struct MatchFinder {
    static let leastLength = 4
    static let longestLength = 258
    /// The maximum number of positions searched in a chain.
    private static let maximumSteps = 64
    /// The match length that ends the search.
    private static let goodLength = 128
    private static let hashBits = 15
    private static let mask = Inflater.longestDistance - 1

    /// The latest position of each hash, and the previous position in each chain, or −1 for none.
    private var heads = [Int32](repeating: -1, count: 1 << hashBits)
    private var previous = [Int32](repeating: -1, count: Inflater.longestDistance)

    /// Adds a position, which must have four bytes.
    mutating func insert(_ bytes: Span<UInt8>, _ place: Int) {
        let hash = Self.hash(bytes, place)
        previous[place & Self.mask] = heads[hash]
        heads[hash] = Int32(truncatingIfNeeded: place)
    }

    /// Returns the longest match at a position that exceeds a given length.
    func match(_ bytes: Span<UInt8>, at place: Int, longerThan length: Int) -> (length: Int, distance: Int)? {
        let most = min(Self.longestLength, bytes.count - place)
        guard most >= Self.leastLength, most > length else { return nil }
        var best = (length: max(length, Self.leastLength - 1), distance: 0)
        var candidate = Int(heads[Self.hash(bytes, place)])
        var steps = Self.maximumSteps
        let oldest = max(0, place - Inflater.longestDistance)
        while candidate >= oldest, steps > 0 {
            // Skip candidates that differ at the position where a longer match must agree, without a full comparison.
            if bytes[candidate &+ best.length] == bytes[place &+ best.length] {
                let count = Self.commonLength(bytes, candidate, place, most: most)
                if count > best.length {
                    best = (count, place - candidate)
                    if count >= min(most, Self.goodLength) { break }
                }
            }
            let next = Int(previous[candidate & Self.mask])
            // The entry was overwritten, so the rest of the chain is outside the window.
            guard next < candidate else { break }
            candidate = next
            steps &-= 1
        }
        return best.distance > 0 ? best : nil
    }

    private static func commonLength(_ bytes: Span<UInt8>, _ first: Int, _ second: Int, most: Int) -> Int {
        var length = 0
        while length <= most &- 8 {
            let difference = bytes.word(at: first &+ length) ^ bytes.word(at: second &+ length)
            if difference != 0 { return length &+ difference.trailingZeroBitCount &>> 3 }
            length &+= 8
        }
        while length < most, bytes[first &+ length] == bytes[second &+ length] { length &+= 1 }
        return length
    }

    @inline(__always)
    private static func hash(_ bytes: Span<UInt8>, _ place: Int) -> Int {
        Int((bytes.quad(at: place) &* 0x9E37_79B1) &>> UInt32(32 - hashBits))
    }
}
