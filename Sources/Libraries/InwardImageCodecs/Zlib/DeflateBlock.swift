/// A block of compressed data (RFC 1951, section 3.2.3) before it is written.
struct DeflateBlock {
    /// The maximum number of tokens in a block. Each block has its own codes.
    static let maximumTokens = 16_384
    private static let longestStored = 65_535

    private var literalFrequencies = [Int](repeating: 0, count: 286)
    private var distanceFrequencies = [Int](repeating: 0, count: 30)

    /// Writes a block in its most compact form.
    ///
    /// - Parameters:
    ///   - tokens: The literals and matches.
    ///   - bytes: The bytes that they represent.
    ///   - writer: The destination.
    ///   - isLast: Whether this is the last block.
    mutating func write(
        _ tokens: Span<DeflateToken>,
        of bytes: Span<UInt8>,
        to writer: inout BitWriter,
        isLast: Bool
    ) {
        Self.count(tokens, &literalFrequencies, &distanceFrequencies)
        let literals = HuffmanCode(frequencies: literalFrequencies, longest: HuffmanTable.longestCode)
        let distances = HuffmanCode(frequencies: distanceFrequencies, longest: HuffmanTable.longestCode)
        let header = DeflateBlockHeader(literals: literals.lengths, distances: distances.lengths)
        let dynamic = bitCount(literals.lengths, distances.lengths)
        let fixed = bitCount(DeflateSymbol.fixedLengths, DeflateSymbol.fixedDistanceLengths)
        let pieces = max(1, (bytes.count + Self.longestStored - 1) / Self.longestStored)
        if 8 * bytes.count + 40 * pieces <= min(header.bitCount + dynamic, fixed) {
            Self.store(bytes, to: &writer, isLast: isLast)
            return
        }
        writer.write(isLast ? 1 : 0, 1)
        if header.bitCount + dynamic < fixed {
            writer.write(2, 2)
            header.write(to: &writer)
            writer.write(tokens, DeflateCodes(literals, distances), bitCount: dynamic)
        } else {
            writer.write(1, 2)
            let literals = HuffmanCode(lengths: DeflateSymbol.fixedLengths)
            let distances = HuffmanCode(lengths: DeflateSymbol.fixedDistanceLengths)
            writer.write(tokens, DeflateCodes(literals, distances), bitCount: fixed)
        }
    }

    /// Counts the symbols of the block.
    private static func count(
        _ tokens: Span<DeflateToken>,
        _ literalFrequencies: inout [Int],
        _ distanceFrequencies: inout [Int]
    ) {
        var literals = literalFrequencies.mutableSpan
        var distances = distanceFrequencies.mutableSpan
        literals.update(repeating: 0)
        distances.update(repeating: 0)
        literals[DeflateSymbol.endOfBlock] = 1
        let lengthCodes = DeflateToken.lengthCodes
        let codes = lengthCodes.span
        for index in tokens.indices {
            let token = tokens[index]
            if token.isLiteral {
                literals[token.literal] &+= 1
            } else {
                literals[DeflateSymbol.firstLength &+ Int(codes[token.length])] &+= 1
                distances[token.distanceSymbol] &+= 1
            }
        }
    }

    /// Returns the number of bits that the tokens need with given code lengths.
    private func bitCount(_ literals: [UInt8], _ distances: [UInt8]) -> Int {
        var count = 0
        for (symbol, frequency) in literalFrequencies.enumerated() where frequency > 0 {
            let code = symbol - DeflateSymbol.firstLength
            count += frequency * (Int(literals[symbol]) + (code < 0 ? 0 : DeflateSymbol.lengthExtraBits[code]))
        }
        for (symbol, frequency) in distanceFrequencies.enumerated() where frequency > 0 {
            count += frequency * (Int(distances[symbol]) + DeflateSymbol.distanceExtraBits[symbol])
        }
        return count
    }

    /// Writes bytes as stored blocks.
    private static func store(_ bytes: Span<UInt8>, to writer: inout BitWriter, isLast: Bool) {
        var start = 0
        repeat {
            let end = min(bytes.count, start + longestStored)
            writer.write(isLast && end == bytes.count ? 1 : 0, 3)
            writer.align()
            writer.write(UInt32(end - start), 16)
            writer.write(UInt32(end - start) ^ 0xFFFF, 16)
            writer.write(bytes.extracting(start..<end))
            start = end
        } while start < bytes.count
    }
}

/// The code lengths at the start of a block (RFC 1951, section 3.2.7).
struct DeflateBlockHeader {
    private typealias Run = (symbol: Int, extra: Int, extraBits: Int)

    private let literalCount: Int
    private let distanceCount: Int
    private let runs: [(symbol: Int, extra: Int, extraBits: Int)]
    private let code: HuffmanCode
    /// The number of code length codes that are written.
    private let codeLengthCount: Int

    init(literals: [UInt8], distances: [UInt8]) {
        literalCount = max(257, (literals.lastIndex { $0 > 0 } ?? 0) + 1)
        distanceCount = max(1, (distances.lastIndex { $0 > 0 } ?? 0) + 1)
        runs = Self.runs(of: Array(literals[..<literalCount] + distances[..<distanceCount]))
        var frequencies = [Int](repeating: 0, count: DeflateSymbol.codeLengthOrder.count)
        for run in runs { frequencies[run.symbol] += 1 }
        let code = HuffmanCode(frequencies: frequencies, longest: 7)
        self.code = code
        codeLengthCount = max(4, (DeflateSymbol.codeLengthOrder.lastIndex { code.lengths[$0] > 0 } ?? 0) + 1)
    }

    /// The size of the header in bits.
    var bitCount: Int {
        runs.reduce(14 + 3 * codeLengthCount) { $0 + Int(code.lengths[$1.symbol]) + $1.extraBits }
    }

    func write(to writer: inout BitWriter) {
        writer.write(UInt32(literalCount - 257), 5)
        writer.write(UInt32(distanceCount - 1), 5)
        writer.write(UInt32(codeLengthCount - 4), 4)
        for symbol in DeflateSymbol.codeLengthOrder[..<codeLengthCount] {
            writer.write(UInt32(code.lengths[symbol]), 3)
        }
        for run in runs {
            writer.write(code.codes[run.symbol], Int(code.lengths[run.symbol]))
            writer.write(UInt32(run.extra), run.extraBits)
        }
    }

    /// Run-length encodes code lengths.
    private static func runs(of lengths: [UInt8]) -> [Run] {
        var runs: [Run] = []
        var index = 0
        while index < lengths.count {
            let length = lengths[index]
            var end = index + 1
            while end < lengths.count, lengths[end] == length { end += 1 }
            if length > 0 {
                runs.append((Int(length), 0, 0))
                index += 1
            }
            while index < end {
                let count = end - index
                switch (length, count) {
                case (0, 11...): runs.append((18, min(count, 138) - 11, 7))
                case (0, 3...): runs.append((17, count - 3, 3))
                case (_, 3...) where length > 0: runs.append((16, min(count, 6) - 3, 2))
                default: runs.append((Int(length), 0, 0))
                }
                index += count < 3 ? 1 : min(count, length > 0 ? 6 : 138)
            }
        }
        return runs
    }
}

/// A length-limited Huffman code, in the canonical form of RFC 1951, section 3.2.2.
struct HuffmanCode {
    /// The code length of each symbol, or 0 for an unused symbol.
    let lengths: [UInt8]
    /// The code of each symbol, with its first bit lowest.
    let codes: [UInt32]

    /// Creates the codes for given lengths.
    init(lengths: [UInt8]) {
        self.lengths = lengths
        var next = [Int](repeating: 0, count: HuffmanTable.longestCode + 2)
        for length in lengths where length > 0 { next[Int(length) + 1] += 1 }
        for length in 1...HuffmanTable.longestCode { next[length + 1] = (next[length + 1] + next[length]) << 1 }
        // `next` now contains the first code of each length, derived from the codes that are one bit shorter.
        codes = lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[Int(length)] += 1 }
            return UInt32(HuffmanTable.reversed(next[Int(length)], Int(length)))
        }
    }

    /// Creates codes of limited length for given symbol frequencies.
    init(frequencies: [Int], longest: Int) {
        let used = frequencies.indices.filter { frequencies[$0] > 0 }.sorted { frequencies[$0] < frequencies[$1] }
        var lengths = [UInt8](repeating: 0, count: frequencies.count)
        var counts = Self.counts(of: used.map { frequencies[$0] })
        Self.limit(&counts, to: longest)
        // The least frequent symbols get the longest codes.
        var length = counts.count - 1
        for symbol in used {
            while length > 1, counts[length] == 0 { length -= 1 }
            lengths[symbol] = UInt8(length)
            counts[length] -= 1
        }
        self.init(lengths: lengths)
    }

    /// Returns the number of codes of each length for frequencies in ascending order (Huffman, 1952).
    private static func counts(of frequencies: [Int]) -> [Int] {
        guard frequencies.count > 1 else { return [0, frequencies.count] }
        let leaves = frequencies.count
        var weights = frequencies
        var parents = [Int](repeating: 0, count: 2 * leaves - 1)
        // Nodes are created in ascending order of weight, so two queues suffice.
        var (leaf, node) = (0, leaves)
        while weights.count < 2 * leaves - 1 {
            var sum = 0
            for _ in 0..<2 {
                let takesLeaf = leaf < leaves && (node >= weights.count || weights[leaf] <= weights[node])
                let index = takesLeaf ? leaf : node
                if takesLeaf { leaf += 1 } else { node += 1 }
                sum += weights[index]
                parents[index] = weights.count
            }
            weights.append(sum)
        }
        var depths = [Int](repeating: 0, count: weights.count)
        for index in (0..<weights.count - 1).reversed() { depths[index] = depths[parents[index]] + 1 }
        var counts = [Int](repeating: 0, count: (depths.max() ?? 0) + 1)
        for leaf in 0..<leaves { counts[depths[leaf]] += 1 }
        return counts
    }

    /// Shortens the codes that are too long and lengthens others, so that the code remains a prefix code.
    private static func limit(_ counts: inout [Int], to longest: Int) {
        guard counts.count - 1 > longest else { return }
        counts[longest] = counts[longest...].reduce(0, +)
        counts.removeSubrange((longest + 1)...)
        var room = (1...longest).reduce(0) { $0 + counts[$1] << (longest - $1) }
        while room > 1 << longest {
            guard let shorter = (1..<longest).last(where: { counts[$0] > 0 }) else { return }
            // One code becomes two longer ones: one for its own symbol, and one for a symbol whose code was too long.
            counts[shorter] -= 1
            counts[shorter + 1] += 2
            counts[longest] -= 1
            room -= 1
        }
    }
}
