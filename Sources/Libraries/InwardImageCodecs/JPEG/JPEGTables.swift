import InwardImages

/// The tables that stand at a place of a file: those of later segments take the place of earlier ones.
struct JPEGTables {
    /// The Huffman tables, as far as scans were prepared for.
    private(set) var huffman = JPEGHuffmanTables()
    /// Where in the file those begin that were read since then, as their kinds and numbers follow each other.
    ///
    /// A table takes far more to be made ready than to be written: in a segment there may be thousands, each of which takes the
    /// place of the one before.
    private var unprepared = [Int?](repeating: nil, count: 8)
    private var isPrepared = false
    /// The quantization tables, in the order of ``JPEGZigzag``; empty where none was defined.
    private(set) var quantization = [[UInt16]](repeating: [], count: 4)
    /// How many MCUs are coded on their own; 0 if all are coded together.
    private(set) var restartInterval = 0

    /// Takes in a segment, if it is one of tables.
    ///
    /// - Throws: what is wrong with it.
    mutating func read(_ marker: UInt8, _ data: Span<UInt8>, _ segment: Range<Int>) throws(ImageCodecError) {
        switch marker {
        case JPEGMarker.quantizationTables: try readQuantization(data, segment)
        case JPEGMarker.huffmanTables: try readHuffman(data, segment)
        case JPEGMarker.restartInterval:
            guard segment.count == 2 else {
                throw .damagedJPEG("has a restart interval of \(segment.count) bytes, at byte \(segment.lowerBound)")
            }
            restartInterval = Int(data[segment.lowerBound]) << 8 | Int(data[segment.lowerBound + 1])
        default: break
        }
    }

    /// Makes the Huffman tables ready for a scan.
    ///
    /// - Throws: what is wrong with one of them.
    mutating func prepare(_ data: Span<UInt8>) throws(ImageCodecError) {
        for index in unprepared.indices {
            guard let position = unprepared[index] else { continue }
            unprepared[index] = nil
            let counts = (1...16).map { data[position + $0] }
            let first = position + 17
            let values = (first..<first + counts.reduce(0) { $0 + Int($1) }).map { data[$0] }
            try huffman.define(ac: index >= 4, index % 4, counts: counts, values: values, at: position)
        }
        guard !isPrepared else { return }
        isPrepared = true
        try defineMissing()
    }

    /// Defines the Huffman tables 0 and 1 that are not defined, as annex K.3 does: frames of Motion JPEG have none.
    private mutating func defineMissing() throws(ImageCodecError) {
        for number in 0...1 {
            for isAC in [false, true] where huffman.start(ofAC: isAC, number) == nil {
                let table = JPEGStandardTables.huffman(ac: isAC, number)
                try huffman.define(ac: isAC, number, counts: table.counts, values: table.values, at: 0)
            }
        }
    }

    private mutating func readQuantization(_ data: Span<UInt8>, _ segment: Range<Int>) throws(ImageCodecError) {
        var position = segment.lowerBound
        while position < segment.upperBound {
            let bytes = data[position] >> 4 == 0 ? 1 : 2
            let number = Int(data[position] & 15)
            guard data[position] >> 4 < 2, number < 4, position + 64 * bytes < segment.upperBound else {
                throw .damagedJPEG("has a quantization table that is none, at byte \(position)")
            }
            var table: [UInt16] = []
            table.reserveCapacity(64)
            for index in 0..<64 {
                let place = position + 1 + index * bytes
                table.append(bytes == 1 ? UInt16(data[place]) : UInt16(data[place]) << 8 | UInt16(data[place + 1]))
            }
            guard !table.contains(0) else {
                throw .damagedJPEG("has a quantization table with a 0, at byte \(position)")
            }
            quantization[number] = table
            position += 1 + 64 * bytes
        }
    }

    private mutating func readHuffman(_ data: Span<UInt8>, _ segment: Range<Int>) throws(ImageCodecError) {
        var position = segment.lowerBound
        while position < segment.upperBound {
            guard position + 17 <= segment.upperBound, data[position] >> 4 < 2, data[position] & 15 < 4 else {
                throw .damagedJPEG("has a Huffman table that is none, at byte \(position)")
            }
            let first = position + 17
            var count = 0
            for place in position + 1..<first { count += Int(data[place]) }
            guard count <= 256, first + count <= segment.upperBound else {
                throw .damagedJPEG("has a Huffman table with too many codes, at byte \(position)")
            }
            unprepared[Int(data[position] >> 4) * 4 + Int(data[position] & 15)] = position
            position = first + count
        }
    }
}
