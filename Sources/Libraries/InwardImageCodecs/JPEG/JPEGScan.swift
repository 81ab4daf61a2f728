import InwardImages

/// What a scan header says (T.81 annex B.2.3).
struct JPEGScan {
    /// A component that a scan has, and where the tables begin that it is coded with.
    struct Part {
        /// Which of the components of the frame.
        let component: Int
        /// Where its table for DC coefficients begins; the first, where the scan needs none.
        let dc: Int
        /// Where its table for AC coefficients begins; the first, where the scan needs none.
        let ac: Int
    }

    /// Which scan of the file it is, from 1.
    let number: Int
    /// The components it has.
    let parts: [Part]
    /// The coefficients it has, in the order of ``JPEGZigzag``.
    let band: ClosedRange<Int>
    /// Which bit was the last that an earlier scan gave of them; 0 if there was none.
    let previousBit: Int
    /// Which bit is the last that this one gives of them.
    let lastBit: Int

    /// Reads the segment of a scan header.
    ///
    /// - Throws: what is wrong with it.
    init(
        _ data: Span<UInt8>,
        _ segment: Range<Int>,
        number: Int,
        _ frame: JPEGFrame,
        _ tables: JPEGTables
    ) throws(ImageCodecError) {
        let start = segment.lowerBound
        let wrong = ImageCodecError.damagedJPEG("has a wrong header of scan \(number), at byte \(start)")
        guard segment.count >= 4 else { throw wrong }
        let count = Int(data[start])
        guard (1...4).contains(count), segment.count == 4 + 2 * count else { throw wrong }
        let end = start + 1 + 2 * count
        let (first, last) = (Int(data[end]), Int(data[end + 1]))
        let (high, low) = (Int(data[end + 2] >> 4), Int(data[end + 2] & 15))
        if frame.isProgressive {
            // Figure G.1 and table G.1: DC coefficients alone, AC coefficients of one component, a bit better at a time.
            guard first <= last, last < 64, first > 0 || last == 0, first == 0 || count == 1, low < 14,
                high == 0 || high == low + 1
            else { throw wrong }
        } else {
            // What libraries write here is not always what a sequential scan has to say.
            guard first == 0 else { throw wrong }
        }
        var parts: [Part] = []
        for index in 0..<count {
            let place = start + 1 + 2 * index
            guard let component = frame.components.firstIndex(where: { $0.identifier == data[place] }),
                !parts.contains(where: { $0.component == component }), data[place + 1] >> 4 < 4,
                data[place + 1] & 15 < 4
            else { throw wrong }
            let dc = tables.huffman.start(ofAC: false, Int(data[place + 1] >> 4))
            let ac = tables.huffman.start(ofAC: true, Int(data[place + 1] & 15))
            let needsDC = first == 0 && high == 0
            let needsAC = !frame.isProgressive || first > 0
            guard dc != nil || !needsDC, ac != nil || !needsAC else {
                throw .damagedJPEG("has no Huffman table that scan \(number) refers to, at byte \(place + 1)")
            }
            parts.append(Part(component: component, dc: dc ?? 0, ac: ac ?? 0))
        }
        let blocks = parts.reduce(0) { sum, part in
            sum + frame.components[part.component].horizontal * frame.components[part.component].vertical
        }
        guard count == 1 || blocks <= 10 else { throw wrong }
        self.number = number
        self.parts = parts
        band = frame.isProgressive ? first...last : 0...63
        previousBit = frame.isProgressive ? high : 0
        lastBit = frame.isProgressive ? low : 0
    }
}
