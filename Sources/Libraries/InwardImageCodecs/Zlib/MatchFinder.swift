/// Finds what was there before, by chains of the places where the same four bytes stood.
struct MatchFinder {
    static let leastLength = 4
    static let longestLength = 258
    /// How many places of a chain are looked at.
    private static let mostSteps = 64
    /// A match of so many bytes is good enough to look no further.
    private static let goodLength = 128
    private static let hashBits = 15
    private static let mask = Inflater.longestDistance - 1

    /// The latest place of each hash, and the one before each place; −1 is none.
    private var heads = [Int32](repeating: -1, count: 1 << hashBits)
    private var previous = [Int32](repeating: -1, count: Inflater.longestDistance)

    /// Notes a place, which must have four bytes.
    mutating func insert(_ bytes: Span<UInt8>, _ place: Int) {
        let hash = Self.hash(bytes, place)
        previous[place & Self.mask] = heads[hash]
        heads[hash] = Int32(truncatingIfNeeded: place)
    }

    /// The longest match for what stands at a place that is longer than a length.
    func match(_ bytes: Span<UInt8>, at place: Int, longerThan length: Int) -> (length: Int, distance: Int)? {
        let most = min(Self.longestLength, bytes.count - place)
        guard most >= Self.leastLength, most > length else { return nil }
        var best = (length: max(length, Self.leastLength - 1), distance: 0)
        var candidate = Int(heads[Self.hash(bytes, place)])
        var steps = Self.mostSteps
        let oldest = max(0, place - Inflater.longestDistance)
        while candidate >= oldest, steps > 0 {
            // What is not the same where a longer match has to be, is not compared from its beginning.
            if bytes[candidate &+ best.length] == bytes[place &+ best.length] {
                let count = Self.commonLength(bytes, candidate, place, most: most)
                if count > best.length {
                    best = (count, place - candidate)
                    if count >= min(most, Self.goodLength) { break }
                }
            }
            let next = Int(previous[candidate & Self.mask])
            // A place that was noted over: the chain is older than what may be repeated.
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
