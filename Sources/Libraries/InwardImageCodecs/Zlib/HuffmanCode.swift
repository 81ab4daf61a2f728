/// Prefix codes that are short for what comes often, as RFC 1951, section 3.2.2, makes them of their lengths.
struct HuffmanCode {
    /// How long each symbol's code is; 0 for one that never comes.
    let lengths: [UInt8]
    /// Each symbol's code, its first bit lowest.
    let codes: [UInt32]

    /// Makes the codes of lengths.
    init(lengths: [UInt8]) {
        self.lengths = lengths
        var next = [Int](repeating: 0, count: HuffmanTable.longestCode + 2)
        for length in lengths where length > 0 { next[Int(length) + 1] += 1 }
        for length in 1...HuffmanTable.longestCode { next[length + 1] = (next[length + 1] + next[length]) << 1 }
        // What was summed up is of the codes one shorter, which is where those of a length begin.
        codes = lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[Int(length)] += 1 }
            return UInt32(HuffmanTable.reversed(next[Int(length)], Int(length)))
        }
    }

    /// Makes codes of no more than so many bits for symbols that come so often.
    init(frequencies: [Int], longest: Int) {
        let used = frequencies.indices.filter { frequencies[$0] > 0 }.sorted { frequencies[$0] < frequencies[$1] }
        var lengths = [UInt8](repeating: 0, count: frequencies.count)
        var counts = Self.counts(of: used.map { frequencies[$0] })
        Self.limit(&counts, to: longest)
        // What comes least has the longest codes.
        var length = counts.count - 1
        for symbol in used {
            while length > 1, counts[length] == 0 { length -= 1 }
            lengths[symbol] = UInt8(length)
            counts[length] -= 1
        }
        self.init(lengths: lengths)
    }

    /// How many codes of each length there are for frequencies in rising order (Huffman, 1952).
    private static func counts(of frequencies: [Int]) -> [Int] {
        guard frequencies.count > 1 else { return [0, frequencies.count] }
        let leaves = frequencies.count
        var weights = frequencies
        var parents = [Int](repeating: 0, count: 2 * leaves - 1)
        // Nodes are made in rising order of their weights, so that two queues are enough.
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

    /// Makes codes that are too long shorter, and others longer for it, until all can be told apart.
    private static func limit(_ counts: inout [Int], to longest: Int) {
        guard counts.count - 1 > longest else { return }
        counts[longest] = counts[longest...].reduce(0, +)
        counts.removeSubrange((longest + 1)...)
        var room = (1...longest).reduce(0) { $0 + counts[$1] << (longest - $1) }
        while room > 1 << longest {
            guard let shorter = (1..<longest).last(where: { counts[$0] > 0 }) else { return }
            // One code becomes two that are longer, for itself and for one of the longest.
            counts[shorter] -= 1
            counts[shorter + 1] += 2
            counts[longest] -= 1
            room -= 1
        }
    }
}
