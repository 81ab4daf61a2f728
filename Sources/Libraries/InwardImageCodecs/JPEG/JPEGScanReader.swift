import InwardImages

/// Where a decoder is in the entropy-coded data of a scan, and what it remembers from one block to the next.
struct JPEGScanReader {
    /// The bits.
    var bits: JPEGBitReader
    /// What the next DC coefficient of each component differs from.
    var predictions = SIMD4<Int32>(repeating: 0)
    /// How many blocks that follow have no coefficient more in this scan (T.81 annex G.1.2.2).
    var emptyBlocks: Int32 = 0

    private let scan: Int
    private let interval: Int
    private var remaining: Int
    private var restarts = 0

    /// Begins with the entropy-coded data of a scan.
    ///
    /// - Parameters:
    ///   - position: Where they begin.
    ///   - scan: Which scan it is.
    ///   - interval: How many MCUs are coded on their own; 0 if all are coded together.
    init(at position: Int, scan: Int, interval: Int) {
        bits = JPEGBitReader(at: position)
        self.scan = scan
        self.interval = interval
        remaining = interval > 0 ? interval : .max
    }

    /// Gets ready for an MCU: passes over the marker that stands before it, if one does.
    ///
    /// - Throws: that another marker stands there, or none; or that the file ends.
    @inline(__always)
    mutating func beginMCU(_ data: Span<UInt8>) throws(ImageCodecError) {
        if remaining == 0 { try restart(data) }
        remaining &-= 1
    }

    @inline(never)
    private mutating func restart(_ data: Span<UInt8>) throws(ImageCodecError) {
        bits.settle(data)
        var position = bits.position
        guard bits.remaining < 8 else {
            throw .damagedJPEG("has data that belong to no block, in scan \(scan) at byte \(position)")
        }
        while position + 1 < data.count, data[position + 1] == 0xFF { position += 1 }
        guard position + 1 < data.count, data[position + 1] != JPEGMarker.endOfImage else {
            throw .truncatedJPEG(at: position)
        }
        guard data[position + 1] == JPEGMarker.firstRestart + UInt8(restarts % 8) else {
            throw .damagedJPEG("has another marker than RST\(restarts % 8), in scan \(scan) at byte \(position)")
        }
        restarts += 1
        bits = JPEGBitReader(at: position + 2)
        predictions = SIMD4(repeating: 0)
        emptyBlocks = 0
        remaining = interval
    }

    /// Why a block could not be decoded.
    func failure(_ data: Span<UInt8>) -> ImageCodecError {
        let position = bits.position
        guard bits.isOverdrawn else {
            return .damagedJPEG("has a Huffman code that no table has, in scan \(scan) before byte \(position)")
        }
        guard position + 1 < data.count, data[position + 1] != JPEGMarker.endOfImage else {
            return .truncatedJPEG(at: position)
        }
        return .damagedJPEG("has a marker among the blocks, in scan \(scan) at byte \(position)")
    }
}
