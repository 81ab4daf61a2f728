extension Inflater {
    private typealias Entry = HuffmanTable.Entry

    /// The maximum output of an iteration of the fast loop: eight literals and the longest match.
    private static let maximumInIteration = 8 + 258
    /// The maximum input of an iteration.
    private static let maximumRead = 16

    /// The number of bytes decompressed before literals are paired. In a short block, pairing takes longer than it saves.
    private static let pairingDelay = 1_024

    /// Decompresses symbols while neither input nor space can run out within an iteration.
    ///
    /// If the block ends, the state says what comes next.
    mutating func inflateRapidly(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through inputEnd: Int,
        to limit: Int,
        _ fixedLiterals: [UInt32],
        _ fixedDistances: [UInt32]
    ) throws(InflateError) {
        guard position <= inputEnd &- Self.maximumRead, end <= limit &- Self.maximumInIteration else { return }
        guard !usesFixedCodes else {
            try readRapidly(input, &position, through: inputEnd, to: limit, fixedLiterals, fixedDistances)
            return
        }
        if mayPairLiterals {
            let pairingStart = min(inputEnd, position &+ Self.pairingDelay)
            try readRapidly(input, &position, through: pairingStart, to: limit, literals.entries, distances.entries)
            guard case .symbols = state, pairingStart < inputEnd, position > pairingStart &- Self.maximumRead else {
                return
            }
            mayPairLiterals = false
            literals.pairLiterals()
        }
        try readRapidly(input, &position, through: inputEnd, to: limit, literals.entries, distances.entries)
    }

    private mutating func readRapidly(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through inputEnd: Int,
        to limit: Int,
        _ literals: [UInt32],
        _ distances: [UInt32]
    ) throws(InflateError) {
        // The loop uses only local variables, which cannot change elsewhere.
        var window: [UInt8] = []
        swap(&window, &self.window)
        var (next, to, buffer) = (position, end, buffer)
        defer {
            swap(&window, &self.window)
            position = next
            end = to
            self.buffer = buffer
        }
        let isAtEnd = try Self.readSymbols(
            input,
            &next,
            through: inputEnd,
            literals.span,
            distances.span,
            &buffer,
            &window,
            &to,
            limit
        )
        if isAtEnd { state = .block }
    }

    /// Decompresses symbols, and returns whether the block ended.
    @inline(__always)
    private static func readSymbols(
        _ input: Span<UInt8>,
        _ next: inout Int,
        through inputEnd: Int,
        _ literals: Span<UInt32>,
        _ distances: Span<UInt32>,
        _ buffer: inout BitBuffer,
        _ window: inout [UInt8],
        _ to: inout Int,
        _ limit: Int
    ) throws(InflateError) -> Bool {
        let lastPosition = inputEnd &- maximumRead
        let lastEnd = limit &- maximumInIteration
        guard next <= lastPosition, to <= lastEnd else { return false }
        var output = window.mutableSpan
        var bits = buffer.bits
        var count = buffer.count
        defer {
            // Bits above the count have been read, and are read again.
            buffer.bits = bits & (1 &<< UInt64(count) &- 1)
            buffer.count = count
        }
        guard literals.count >= 1 << HuffmanTable.literalBits, distances.count >= 1 << HuffmanTable.distanceBits else {
            return false
        }
        let literalMask: UInt64 = 1 &<< UInt64(HuffmanTable.literalBits) &- 1
        let distanceMask: UInt64 = 1 &<< UInt64(HuffmanTable.distanceBits) &- 1

        while next <= lastPosition, to <= lastEnd {
            bits |= input.word(at: next) &<< UInt64(count)
            next &+= (63 &- count) &>> 3
            count |= 56
            var entry = literals[Int(truncatingIfNeeded: bits & literalMask)]
            if entry & Entry.literal != 0 {
                output.append(entry, &to, &bits, &count)
                entry = literals[Int(truncatingIfNeeded: bits & literalMask)]
                if entry & Entry.literal != 0 {
                    output.append(entry, &to, &bits, &count)
                    entry = literals[Int(truncatingIfNeeded: bits & literalMask)]
                    if entry & Entry.literal != 0 {
                        output.append(entry, &to, &bits, &count)
                        entry = literals[Int(truncatingIfNeeded: bits & literalMask)]
                        if entry & Entry.literal != 0 {
                            output.append(entry, &to, &bits, &count)
                            continue
                        }
                    }
                }
            }
            bits |= input.word(at: next) &<< UInt64(count)
            next &+= (63 &- count) &>> 3
            count |= 56
            if entry & Entry.special != 0 {
                entry = Self.resolved(entry, bits, literals, HuffmanTable.literalBits)
                if entry & Entry.literal != 0 {
                    output.append(entry, &to, &bits, &count)
                    continue
                }
                if entry & Entry.special != 0 {
                    guard entry & Entry.endOfBlock != 0 else { throw .code }
                    bits &>>= UInt64(entry & 0x3F)
                    count &-= Entry.bits(entry)
                    return true
                }
            }
            let length = Self.number(entry, &bits, &count)
            entry = distances[Int(truncatingIfNeeded: bits & distanceMask)]
            if entry & Entry.special != 0 {
                entry = Self.resolved(entry, bits, distances, HuffmanTable.distanceBits)
                guard entry & Entry.special == 0 else { throw .code }
            }
            let distance = Self.number(entry, &bits, &count)
            guard distance <= to else { throw .distance }
            let stop = to &+ length
            if distance >= 8 {
                repeat {
                    output.store(output.span.word(at: to &- distance), at: to)
                    to &+= 8
                } while to < stop
            } else {
                // The distance is shorter than a word. Fill a word with repetitions of the pattern, and advance by the length
                // of the complete ones.
                var word = output.span.word(at: to &- distance) & (1 &<< UInt64(8 &* distance) &- 1)
                var period = distance
                while period < 8 {
                    word |= word &<< UInt64(8 &* period)
                    period &*= 2
                }
                let step = 8 &- 8 % distance
                repeat {
                    output.store(word, at: to)
                    to &+= step
                } while to < stop
            }
            to = stop
        }
        return false
    }

    /// Returns the second table's entry for a code that exceeds the first table, and other entries unchanged.
    @inline(__always)
    private static func resolved(
        _ entry: UInt32,
        _ bits: UInt64,
        _ entries: Span<UInt32>,
        _ primaryBits: Int
    ) -> UInt32 {
        guard entry & Entry.subtable != 0 else { return entry }
        let index = bits &>> UInt64(primaryBits) & (1 &<< UInt64(Entry.bits(entry)) &- 1)
        return entries[Entry.value(entry) &+ Int(truncatingIfNeeded: index)]
    }

    /// Returns the number that an entry and its extra bits represent.
    @inline(__always)
    private static func number(_ entry: UInt32, _ bits: inout UInt64, _ count: inout Int) -> Int {
        let extra = (bits & (1 &<< UInt64(Entry.bits(entry)) &- 1)) &>> Entry.codeBits(entry)
        bits &>>= UInt64(Entry.bits(entry))
        count &-= Entry.bits(entry)
        return Entry.value(entry) &+ Int(truncatingIfNeeded: extra)
    }

    /// Decompresses one symbol at a time, each only if all of its bits are available. Returns the reason for stopping, unless
    /// the block ended.
    mutating func inflateCarefully(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through inputEnd: Int,
        to limit: Int
    ) throws(InflateError) -> Pause? {
        let literals = usesFixedCodes ? fixed.literals : literals.entries
        let distances = usesFixedCodes ? fixed.distances : distances.entries
        while true {
            // A length and a distance take at most 48 bits.
            buffer.refill(input, &position, through: inputEnd)
            var (bits, count) = (buffer.bits, buffer.count)
            let first = literals[Int(bits & (1 << UInt64(HuffmanTable.literalBits) - 1))]
            let entry = Self.resolved(first, bits, literals.span, HuffmanTable.literalBits)
            if entry & Entry.special != 0, entry & Entry.endOfBlock == 0 {
                // With too few bits, a seemingly invalid code may be the beginning of a valid one.
                guard count >= HuffmanTable.longestCode else { return .starved }
                throw .code
            }
            // If the entry contains two literals, use the first one.
            let isLiteral = entry & Entry.literal != 0
            let entryBits = isLiteral ? Int(Entry.codeBits(entry)) : Entry.bits(entry)
            guard entryBits <= count else { return .starved }
            if entry & Entry.special != 0 {
                buffer.drop(entryBits)
                state = .block
                return nil
            }
            guard end < limit else { return .full }
            if isLiteral {
                buffer.drop(entryBits)
                window[end] = UInt8(truncatingIfNeeded: entry >> 16)
                end += 1
                continue
            }
            let length = Self.number(entry, &bits, &count)
            let second = distances[Int(bits & (1 << UInt64(HuffmanTable.distanceBits) - 1))]
            let distanceEntry = Self.resolved(second, bits, distances.span, HuffmanTable.distanceBits)
            guard distanceEntry & Entry.special == 0 else {
                guard count >= HuffmanTable.longestCode else { return .starved }
                throw .code
            }
            guard Entry.bits(distanceEntry) <= count else { return .starved }
            let distance = Self.number(distanceEntry, &bits, &count)
            guard distance <= end else { throw .distance }
            (buffer.bits, buffer.count) = (bits, count)
            state = .copy(length: length, distance: distance)
            return nil
        }
    }
}

extension MutableSpan where Element == UInt8 {
    /// Writes one or two literals and consumes their bits.
    @inline(__always)
    fileprivate mutating func append(_ entry: UInt32, _ to: inout Int, _ bits: inout UInt64, _ count: inout Int) {
        self[to] = UInt8(truncatingIfNeeded: entry &>> 16)
        self[to &+ 1] = UInt8(truncatingIfNeeded: entry &>> 24)
        to &+= 1 &+ Int(entry &>> 12 & 1)
        bits &>>= UInt64(entry & 0x3F)
        count &-= HuffmanTable.Entry.bits(entry)
    }
}
