/// A block of compressed data (RFC 1951, section 3.2.3) before it is written.
struct DeflateBlock {
    /// The maximum number of tokens in a block. Each block has its own codes.
    static let maximumTokens = 16_384
    private static let longestStored = 65_535

    private(set) var tokens: [DeflateToken] = []
    private var literalFrequencies = [Int](repeating: 0, count: 286)
    private var distanceFrequencies = [Int](repeating: 0, count: 30)

    var isFull: Bool { tokens.count >= Self.maximumTokens }

    mutating func append(_ token: DeflateToken) {
        tokens.append(token)
        if token.isLiteral {
            literalFrequencies[token.literal] += 1
        } else {
            literalFrequencies[token.lengthSymbol] += 1
            distanceFrequencies[token.distanceSymbol] += 1
        }
    }

    /// Writes the block in its most compact form, and empties it.
    ///
    /// - Parameters:
    ///   - writer: The destination.
    ///   - bytes: The bytes that the block represents.
    ///   - isLast: Whether this is the last block.
    mutating func write(to writer: inout BitWriter, bytes: Span<UInt8>, isLast: Bool) {
        literalFrequencies[DeflateSymbol.endOfBlock] = 1
        let literals = HuffmanCode(frequencies: literalFrequencies, longest: HuffmanTable.longestCode)
        let distances = HuffmanCode(frequencies: distanceFrequencies, longest: HuffmanTable.longestCode)
        let header = DeflateBlockHeader(literals: literals.lengths, distances: distances.lengths)
        let dynamic = header.bitCount + bitCount(literals.lengths, distances.lengths)
        let fixed = bitCount(DeflateSymbol.fixedLengths, DeflateSymbol.fixedDistanceLengths)
        let pieces = max(1, (bytes.count + Self.longestStored - 1) / Self.longestStored)
        if 8 * bytes.count + 40 * pieces <= min(dynamic, fixed) {
            Self.store(bytes, to: &writer, isLast: isLast)
        } else {
            writer.write(isLast ? 1 : 0, 1)
            writer.write(dynamic < fixed ? 2 : 1, 2)
            if dynamic < fixed {
                header.write(to: &writer)
                write(to: &writer, literals, distances)
            } else {
                write(
                    to: &writer,
                    HuffmanCode(lengths: DeflateSymbol.fixedLengths),
                    HuffmanCode(lengths: DeflateSymbol.fixedDistanceLengths)
                )
            }
        }
        tokens.removeAll(keepingCapacity: true)
        for index in literalFrequencies.indices { literalFrequencies[index] = 0 }
        for index in distanceFrequencies.indices { distanceFrequencies[index] = 0 }
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

    private func write(to writer: inout BitWriter, _ literals: HuffmanCode, _ distances: HuffmanCode) {
        for token in tokens {
            guard !token.isLiteral else {
                writer.write(literals.codes[token.literal], Int(literals.lengths[token.literal]))
                continue
            }
            let symbol = token.lengthSymbol
            let code = symbol - DeflateSymbol.firstLength
            writer.write(literals.codes[symbol], Int(literals.lengths[symbol]))
            writer.write(
                UInt32(token.length - DeflateSymbol.lengthBases[code]),
                DeflateSymbol.lengthExtraBits[code]
            )
            let distance = token.distanceSymbol
            writer.write(distances.codes[distance], Int(distances.lengths[distance]))
            writer.write(
                UInt32(token.distance - DeflateSymbol.distanceBases[distance]),
                DeflateSymbol.distanceExtraBits[distance]
            )
        }
        let end = DeflateSymbol.endOfBlock
        writer.write(literals.codes[end], Int(literals.lengths[end]))
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

/// A writer of bits, starting at the lowest bit of each byte (RFC 1951, section 3.1.1).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var bits: UInt64 = 0
    private var count = 0

    /// Writes the lowest bits of a number, at most 32. All higher bits must be zero.
    @inline(__always)
    mutating func write(_ value: UInt32, _ number: Int) {
        bits |= UInt64(value) &<< UInt64(count)
        count &+= number
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits &>>= 8
            count &-= 8
        }
    }

    /// Pads the current byte with zeros.
    mutating func align() {
        if count > 0 { write(0, 8 - count) }
    }

    /// Writes bytes after padding the current byte.
    mutating func write(_ span: Span<UInt8>) {
        align()
        bytes.reserveCapacity(bytes.count + span.count)
        for index in 0..<span.count { bytes.append(span[index]) }
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
