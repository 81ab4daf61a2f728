/// A block of compressed data (RFC 1951, section 3.2.3) before it is written.
struct DeflateBlock {
    /// How many tokens a block has at most: the codes are made for what is in it.
    static let mostTokens = 16_384
    private static let longestStored = 65_535

    private(set) var tokens: [DeflateToken] = []
    private var literalFrequencies = [Int](repeating: 0, count: 286)
    private var distanceFrequencies = [Int](repeating: 0, count: 30)

    var isFull: Bool { tokens.count >= Self.mostTokens }

    mutating func append(_ token: DeflateToken) {
        tokens.append(token)
        if token.isLiteral {
            literalFrequencies[token.literal] += 1
        } else {
            literalFrequencies[token.lengthSymbol] += 1
            distanceFrequencies[token.distanceSymbol] += 1
        }
    }

    /// Writes it in the way that takes the least room, and empties it.
    ///
    /// - Parameters:
    ///   - writer: Where to.
    ///   - bytes: What it stands for.
    ///   - isLast: Whether no other follows.
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

    /// How many bits the tokens take with codes of these lengths.
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

    /// Writes bytes as they are, in blocks of their own.
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
