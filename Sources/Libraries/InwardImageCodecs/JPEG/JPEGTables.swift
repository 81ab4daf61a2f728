import InwardImages

/// The tables that apply at a position in a file. Later segments replace earlier tables.
struct JPEGTables {
    /// The Huffman tables prepared for the last scan.
    private(set) var huffman = JPEGHuffmanTables()
    /// The positions in the file of the Huffman tables that were read after that, ordered by kind and number.
    ///
    /// A segment can contain thousands of tables that replace each other. Preparing each of them would take far longer than
    /// reading it.
    private var unprepared = [Int?](repeating: nil, count: 8)
    private var isPrepared = false
    /// The quantization tables, in the order of ``JPEGZigzag``. A table that is not defined is empty.
    private(set) var quantization = [[UInt16]](repeating: [], count: 4)
    /// The number of MCUs between restart markers, or 0 if there are none.
    private(set) var restartInterval = 0

    /// Reads a segment if it contains tables.
    ///
    /// - Throws: An error if the segment is invalid.
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

    /// Prepares the Huffman tables for a scan.
    ///
    /// - Throws: An error if a table is invalid.
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

    /// Defines Huffman tables 0 and 1 as in annex K.3 if they are missing, because Motion JPEG frames omit them.
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
                throw .damagedJPEG("has an invalid quantization table, at byte \(position)")
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
                throw .damagedJPEG("has an invalid Huffman table, at byte \(position)")
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

/// The example tables of T.81 annex K, which most files use.
enum JPEGStandardTables {
    /// A Huffman table: the number of codes of each length from 1 to 16 bits, and the symbols in ascending order of their
    /// codes.
    struct Huffman {
        let counts: [UInt8]
        let values: [UInt8]
    }

    /// Returns a table of section K.3: 0 for luminance, 1 for chrominance.
    static func huffman(ac isAC: Bool, _ number: Int) -> Huffman {
        switch (isAC, number) {
        case (false, 0): Huffman(counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], values: Array(0...11))
        case (false, _): Huffman(counts: [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], values: Array(0...11))
        case (true, 0): Huffman(counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125], values: brightnessAC)
        case (true, _): Huffman(counts: [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119], values: colorAC)
        }
    }

    private static let brightnessAC: [UInt8] = [
        0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
        0x14, 0x32,
        0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09,
        0x0A, 0x16,
        0x17, 0x18, 0x19, 0x1A, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43,
        0x44, 0x45,
        0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67,
        0x68, 0x69,
        0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x92,
        0x93, 0x94,
        0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4,
        0xB5, 0xB6,
        0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6,
        0xD7, 0xD8,
        0xD9, 0xDA, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6,
        0xF7, 0xF8,
        0xF9, 0xFA,
    ]

    private static let colorAC: [UInt8] = [
        0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
        0x32, 0x81,
        0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0, 0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16,
        0x24, 0x34,
        0xE1, 0x25, 0xF1, 0x17, 0x18, 0x19, 0x1A, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A,
        0x43, 0x44,
        0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66,
        0x67, 0x68,
        0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
        0x8A, 0x92,
        0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2,
        0xB3, 0xB4,
        0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4,
        0xD5, 0xD6,
        0xD7, 0xD8, 0xD9, 0xDA, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6,
        0xF7, 0xF8,
        0xF9, 0xFA,
    ]

    /// Returns the quantization table of section K.1 for luminance (0) or chrominance (1), row by row.
    static func quantization(_ number: Int) -> [Int] {
        number == 0 ? brightness : color
    }

    private static let brightness = [
        16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29,
        51, 87,
        80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
        72, 92,
        95, 98, 112, 100, 103, 99,
    ]

    private static let color = [
        17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99,
        99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
        99, 99,
        99, 99, 99, 99,
    ]
}

/// The Huffman tables of a file (T.81 annexes B.2.4.2 and F.2.2.3), in a form for decoding.
///
/// All tables share one array, so that decoding a block needs only one array. An entry of 0 is an invalid code or a longer one.
/// Other entries describe a code:
///
/// - Bits 0 to 7: the number of bits to skip.
/// - Bits 8 to 11: the number of bits to read after that, which is 0 if code and value fit into the lookup bits.
/// - Bits 12 to 15: the upper half of the symbol, which is the number of zero coefficients before the next one.
/// - Bits 16 to 31: the value, if no further bits are read.
struct JPEGHuffmanTables {
    private static let lookupBits = 10
    private static let limits = 1 << lookupBits
    private static let offsets = limits + 17
    private static let symbols = offsets + 17
    private static let stride = symbols + 256

    /// The size of the tables in bytes.
    static let byteCount = 8 * stride * MemoryLayout<UInt32>.stride

    /// The entries of all tables.
    private(set) var entries = [UInt32](repeating: 0, count: 8 * stride)
    private var isDefined = [Bool](repeating: false, count: 8)

    /// Returns the offset of the DC or AC table with a number from 0 to 3, or `nil` if it is not defined.
    func start(ofAC isAC: Bool, _ number: Int) -> Int? {
        let index = (isAC ? 4 : 0) + number
        return isDefined[index] ? index * Self.stride : nil
    }

    /// Returns the entry for the next bits.
    @inline(__always)
    static func entry(for bits: UInt64, in entries: Span<UInt32>, at start: Int) -> UInt32 {
        let entry = entries[start &+ Int(truncatingIfNeeded: bits &>> UInt64(64 - lookupBits))]
        return entry != 0 ? entry : longEntry(for: bits, in: entries, at: start)
    }

    @inline(never)
    private static func longEntry(for bits: UInt64, in entries: Span<UInt32>, at start: Int) -> UInt32 {
        let code = UInt32(truncatingIfNeeded: bits >> 48)
        for length in lookupBits + 1...16 where code < entries[start + limits + length] {
            let index = entries[start + offsets + length] &+ code >> UInt32(16 - length)
            let symbol = entries[start + symbols + Int(index & 0xFF)]
            return UInt32(length) | symbol << 8
        }
        return 0
    }

    /// Defines a table.
    ///
    /// - Parameters:
    ///   - isAC: Whether the table is for AC coefficients.
    ///   - number: The table number, from 0 to 3.
    ///   - counts: The number of codes of each length from 1 to 16 bits.
    ///   - values: The symbols in ascending order of their codes.
    ///   - position: The table's position in the file.
    /// - Throws: An error if the number of codes is impossible, or if a symbol is invalid for 8-bit samples.
    mutating func define(
        ac isAC: Bool,
        _ number: Int,
        counts: [UInt8],
        values: [UInt8],
        at position: Int
    ) throws(ImageCodecError) {
        let index = (isAC ? 4 : 0) + number
        let start = index * Self.stride
        // A table that was never defined is already zero.
        if isDefined[index] { for entry in start..<start + Self.stride { entries[entry] = 0 } }
        isDefined[index] = true
        var code: UInt32 = 0
        var next = 0
        for length in 1...16 {
            code <<= 1
            entries[start + Self.offsets + length] = UInt32(next) &- code
            for _ in 0..<Int(counts[length - 1]) {
                guard next < values.count, code < 1 << UInt32(length) else {
                    throw .damagedJPEG("has a Huffman table with too many codes, at byte \(position)")
                }
                let symbol = values[next]
                guard isAC || symbol < 16 else {
                    throw .damagedJPEG(
                        "has a Huffman table for DC coefficients of \(symbol) bits, at byte \(position)"
                    )
                }
                entries[start + Self.symbols + next] = UInt32(symbol)
                if length <= Self.lookupBits { fill(start, code, length, symbol) }
                code += 1
                next += 1
            }
            entries[start + Self.limits + length] = code << UInt32(16 - length)
        }
    }

    /// Writes the entries for all bits that begin with a code.
    private mutating func fill(_ start: Int, _ code: UInt32, _ length: Int, _ symbol: UInt8) {
        let size = Int(symbol & 15)
        let free = Self.lookupBits - length
        let first = start + Int(code) << free
        let run = UInt32(symbol >> 4) << 12
        guard size > 0, size <= free else {
            let entry = UInt32(length) | UInt32(size) << 8 | run
            for rest in 0..<1 << free { entries[first + rest] = entry }
            return
        }
        for bits in 0..<1 << size {
            let value = Self.extended(Int32(bits), size)
            let entry = UInt32(length + size) | run | UInt32(truncatingIfNeeded: value) << 16
            let start = first + bits << (free - size)
            for rest in 0..<1 << (free - size) { entries[start + rest] = entry }
        }
    }

    /// Sign-extends the bits that follow a code (T.81 figure F.12): a leading 0 marks a negative number.
    @inline(__always)
    static func extended(_ bits: Int32, _ size: Int) -> Int32 {
        let half = 1 as Int32 &<< Int32(truncatingIfNeeded: size &- 1)
        return bits < half ? bits &- half &- half &+ 1 : bits
    }
}
