/// A length-limited Huffman code, in the canonical form of RFC 1951, section 3.2.2.
struct HuffmanCode {
    /// The code length of each symbol; 0 for an unused symbol.
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
            // One code becomes two longer ones: for its own symbol and for one of those that were too long.
            counts[shorter] -= 1
            counts[shorter + 1] += 2
            counts[longest] -= 1
            room -= 1
        }
    }
}
