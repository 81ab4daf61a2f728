import InwardImages

/// The division of an image into strips, whose pixels are made concurrently.
///
/// Each strip consists of whole rows of MCUs. All strips have the same number of rows, except that the last one can have fewer.
struct JPEGStrips {
    /// The maximum number of pixels of a strip, unless a row has more. A strip takes a hundred times as long as starting a task,
    /// and its samples and pixels fit into the cache of a processor core.
    static let pixelCount = 1 << 18
    /// The maximum number of strips in memory, including the one that is being read.
    private static let mostAtOnce = 4

    private let rowCount: Int
    private let rowsEach: Int
    /// The number of bytes that the coefficients of a row occupy, and its pixels.
    private let rowBytes: Int

    init(_ frame: JPEGFrame, pixelCount: Int = Self.pixelCount) {
        rowCount = frame.mcusDown
        let pixelsOfRow = frame.mcusAcross * frame.horizontal * frame.vertical * 64
        rowsEach = max(1, pixelCount / pixelsOfRow)
        let coefficients = JPEGCoefficients.byteCount(frame) / frame.mcusDown
        rowBytes = coefficients + coefficients / 128 + pixelsOfRow * Image.bytesPerPixel
    }

    private var count: Int { (rowCount - 1) / rowsEach + 1 }

    /// Whether there are enough strips for child tasks to pay off.
    var areWorthwhile: Bool { count >= Self.mostAtOnce }

    /// Returns the number of bytes that strips need in addition to the image: coefficients, samples and pixels.
    func workingBytes(sampleCount: Int) -> Int {
        guard areWorthwhile else { return 0 }
        // With a neighboring row on each side.
        return min(rowCount, Self.mostAtOnce * rowsEach + 2) * rowBytes + Self.mostAtOnce * sampleCount
    }

    /// Returns the pixels of all strips.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes of the pixels.
    ///   - read: Called with the rows of each strip in order. It returns a closure that makes the pixels, for a child task.
    /// - Returns: The pixels.
    /// - Throws: What `read` or one of its closures throws. The other child tasks are then cancelled.
    func pixels(
        _ byteCount: Int,
        _ read: (Range<Int>) throws(ImageCodecError) -> @Sendable () throws(ImageCodecError) -> [UInt8]
    ) async throws(ImageCodecError) -> [UInt8] {
        let result = await withTaskGroup(of: (Int, Result<[UInt8], ImageCodecError>).self) { group in
            var pixels: [UInt8] = []
            pixels.reserveCapacity(byteCount)
            // Strips that were completed before an earlier one.
            var waiting: [Int: [UInt8]] = [:]
            var next = 0
            func add(_ part: Result<[UInt8], ImageCodecError>, _ number: Int) throws(ImageCodecError) {
                waiting[number] = try part.get()
                while let part = waiting.removeValue(forKey: next) {
                    pixels += part
                    next += 1
                }
            }
            do throws(ImageCodecError) {
                for strip in 0..<count {
                    while strip - next >= Self.mostAtOnce, let (number, part) = await group.next() {
                        try add(part, number)
                    }
                    let make = try read(strip * rowsEach..<min((strip + 1) * rowsEach, rowCount))
                    group.addTask { (strip, Result { () throws(ImageCodecError) in try make() }) }
                }
                while let (number, part) = await group.next() { try add(part, number) }
                return Result<[UInt8], ImageCodecError>.success(pixels)
            } catch {
                group.cancelAll()
                return .failure(error)
            }
        }
        return try result.get()
    }
}
