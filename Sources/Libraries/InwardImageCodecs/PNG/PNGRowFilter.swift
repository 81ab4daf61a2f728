/// Chooses the filter of each row: the one that leaves the least, as ISO/IEC 15948, section 12.7, advises.
struct PNGRowFilter {
    private let distance: Int
    private var above: [UInt8]
    private var candidate: [UInt8]
    private var best: [UInt8]

    init(rowCount: Int, distance: Int) {
        self.distance = distance
        above = [UInt8](repeating: 0, count: rowCount)
        candidate = above
        best = above
    }

    /// Adds a row to what is compressed, behind the number of its filter.
    mutating func append(_ row: [UInt8], to bytes: inout [UInt8]) {
        let above = above
        var (chosen, least) = (PNGFilter.none, Int.max)
        for filter in PNGFilter.allCases {
            let sum = Self.apply(filter, to: row.span, above: above.span, distance: distance, &candidate)
            guard sum < least else { continue }
            (chosen, least) = (filter, sum)
            swap(&candidate, &best)
        }
        bytes.append(chosen.rawValue)
        bytes += best
        self.above = row
    }

    /// Filters a row; the sum of what is left, each byte taken for a number between −128 and 127 without its sign.
    private static func apply(
        _ filter: PNGFilter,
        to row: Span<UInt8>,
        above: Span<UInt8>,
        distance: Int,
        _ result: inout [UInt8]
    ) -> Int {
        var output = result.mutableSpan
        var sum = 0
        let first = min(distance, row.count)
        for index in 0..<first {
            let byte = row[index] &- filter.predicted(0, above[index], 0)
            output[index] = byte
            sum &+= Int(Int8(bitPattern: byte).magnitude)
        }
        for index in first..<row.count {
            let byte = row[index] &- filter.predicted(row[index &- distance], above[index], above[index &- distance])
            output[index] = byte
            sum &+= Int(Int8(bitPattern: byte).magnitude)
        }
        return sum
    }
}
