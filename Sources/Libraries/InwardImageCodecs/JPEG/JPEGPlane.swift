/// Where the samples of a component lie while a picture is decoded: those of a row of MCUs, and of the one before if the rows of
/// the picture need it.
struct JPEGPlane {
    /// How many samples the side of a block has: 8, or fewer where the picture is reduced.
    let blockSize: Int
    /// How many samples there are in a row of the picture.
    let width: Int
    /// How many rows of samples there are in the picture.
    let height: Int
    /// How far a row is from the next.
    let stride: Int
    /// How many rows of samples a row of MCUs has.
    let bandRows: Int
    /// How many rows of samples there is room for.
    let storedRows: Int
    /// Where the first sample is.
    let start: Int
    /// How the samples become as many as there are pixels.
    let upsampling: JPEGUpsampling
    /// Where the row is that they are written to then.
    let upsampledRow: Int
    /// How many samples of a row there are for as many pixels as the MCU has blocks, in the two directions.
    let horizontal: Int
    let vertical: Int

    /// Where a row of samples begins, or the last one if there are not as many.
    @inline(__always)
    func start(ofRow row: Int) -> Int {
        start + min(max(0, row), height - 1) % storedRows * stride
    }

    /// Where a row of MCUs begins.
    @inline(__always)
    func start(ofBand band: Int) -> Int {
        start + band * bandRows % storedRows * stride
    }

    /// Puts a copy of the last sample of each row behind it, for those who look for the next one.
    func extendRows(ofBand band: Int, _ samples: inout MutableSpan<UInt8>) {
        var end = start(ofBand: band) + width
        for _ in 0..<bandRows {
            samples[end] = samples[end - 1]
            end += stride
        }
    }
}
