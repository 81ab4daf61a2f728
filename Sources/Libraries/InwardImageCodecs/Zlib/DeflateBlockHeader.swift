/// The lengths of a block's codes, as they stand before its data (RFC 1951, section 3.2.7).
struct DeflateBlockHeader {
    private typealias Run = (symbol: Int, extra: Int, extraBits: Int)

    private let literalCount: Int
    private let distanceCount: Int
    private let runs: [(symbol: Int, extra: Int, extraBits: Int)]
    private let code: HuffmanCode
    /// How many of the lengths of that code are written.
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

    /// How many bits it takes.
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

    /// The lengths, with a symbol for those that repeat.
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
