/// An earlier occurrence of the bytes at a position.
struct DeflateMatch {
    /// The value that stands for no match. Its length is 0.
    static let none = DeflateMatch(length: 0, distance: 0)

    var length: Int
    var distance: Int
}

/// A finder of earlier occurrences, with hash chains of four-byte sequences.
enum MatchFinder {
    private static let leastLength = 4
    private static let longestLength = 258
    /// The maximum number of positions searched in a chain.
    private static let maximumSteps = 32
    /// The match length from which a search for a longer one takes a quarter of the steps.
    private static let sufficientLength = 8
    /// The match length that ends the search.
    private static let goodLength = 128
    private static let hashBits = 15
    private static let hashCount = 1 << hashBits
    private static let mask = Inflater.longestDistance - 1

    /// The links before the first position is added: the latest position of each hash, and then the previous position in each chain.
    /// All are -1, which stands for no position.
    static var links: [Int32] { [Int32](repeating: -1, count: hashCount + Inflater.longestDistance) }

    /// Adds a position, and returns the latest earlier position with the same hash, or -1 if no position has it.
    @inline(__always)
    static func insert(_ place: Int, of bytes: Span<UInt8>, into links: inout MutableSpan<Int32>) -> Int {
        guard place <= bytes.count &- leastLength else { return -1 }
        let hash = Int((bytes.quad(at: place) &* 0x9E37_79B1) &>> UInt32(32 - hashBits))
        let latest = links[hash]
        links[hashCount &+ place & mask] = latest
        links[hash] = Int32(truncatingIfNeeded: place)
        return Int(latest)
    }

    /// Finds the longest match at a position that exceeds a given length.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - place: The position.
    ///   - length: The length that a match must exceed.
    ///   - candidate: The latest earlier position with the same hash, or -1 if no position has it.
    ///   - links: The links, with those of the position.
    /// - Returns: The longest match, or ``DeflateMatch/none``.
    @inline(never)
    static func match(
        _ bytes: Span<UInt8>,
        at place: Int,
        longerThan length: Int,
        from candidate: Int,
        _ links: Span<Int32>
    ) -> DeflateMatch {
        let most = min(longestLength, bytes.count &- place)
        var best = DeflateMatch(length: max(length, leastLength &- 1), distance: 0)
        guard most > best.length else { return .none }
        var candidate = candidate
        var steps = length < sufficientLength ? maximumSteps : maximumSteps / 4
        let oldest = max(0, place &- Inflater.longestDistance)
        // A longer match must agree in its last four bytes, which rules out most candidates without a full comparison.
        var tail = bytes.quad(at: place &+ best.length &- 3)
        while candidate >= oldest, steps > 0 {
            if bytes.quad(at: candidate &+ best.length &- 3) == tail {
                let count = commonLength(bytes, candidate, place, most: most)
                if count > best.length {
                    best = DeflateMatch(length: count, distance: place &- candidate)
                    if count >= min(most, goodLength) { break }
                    tail = bytes.quad(at: place &+ count &- 3)
                }
            }
            let next = Int(links[hashCount &+ candidate & mask])
            // The entry was overwritten, so the rest of the chain is outside the window.
            guard next < candidate else { break }
            candidate = next
            steps &-= 1
        }
        return best.distance > 0 ? best : .none
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
}
