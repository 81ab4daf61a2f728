/// What an encoded picture says of itself before it is decoded.
public struct ImageHeader: Hashable, Sendable {
    /// The form it is encoded in.
    public let format: ImageFormat
    /// How large it is, as it is stored.
    public let size: ImageSize
    /// How it is to be turned to show it.
    public let orientation: Orientation
    /// What its sides can be divided by while it is decoded, in rising order; 1 is always among them.
    public let reductions: [Int]
    /// How many bytes decoding it takes beside those of the picture that comes out.
    public let workingBytes: Int

    /// Says what a picture is.
    ///
    /// - Parameters:
    ///   - format: The form it is encoded in.
    ///   - size: How large it is, as it is stored.
    ///   - orientation: How it is to be turned to show it.
    ///   - reductions: What its sides can be divided by while it is decoded, beside 1.
    ///   - workingBytes: How many bytes decoding it takes beside those of the picture that comes out.
    public init(
        format: ImageFormat,
        size: ImageSize,
        orientation: Orientation = .up,
        reductions: Set<Int> = [],
        workingBytes: Int = 0
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.reductions = reductions.filter { $0 > 1 }.union([1]).sorted()
        self.workingBytes = max(0, workingBytes)
    }

    /// How many bytes decoding it takes in all, where its sides are divided by a number meanwhile.
    public func bytes(reducedBy reduction: Int) -> Int {
        let (bytes, isTooMany) = size.divided(by: reduction).byteCount.addingReportingOverflow(workingBytes)
        return isTooMany ? .max : bytes
    }
}
