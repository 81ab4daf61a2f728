@testable import InwardImageCodecs

/// Decompression of data that arrives and is read in pieces.
enum Inflation {
    /// Returns the decompressed data, or `nil` if the input ends too early or the output exceeds `count`.
    static func inflated(
        _ data: [UInt8],
        count: Int,
        piece: Int = 64,
        given: Int = .max
    ) throws(InflateError) -> [UInt8]? {
        var inflater = ZlibInflater(count: count, piece: piece)
        var output: [UInt8] = []
        var position = 0
        var end = min(given, data.count)
        while !inflater.isFinished {
            let pause = try inflater.inflate(data.span, &position, through: end)
            let available = inflater.available
            let start = inflater.read(available)
            output += inflater.inflater.window[start..<start + available]
            switch pause {
            case .starved:
                guard end < data.count else { return nil }
                end = min(end + given, data.count)
            case .full:
                guard available > 0 else { return nil }
            case .finished:
                break
            }
        }
        return output
    }
}
