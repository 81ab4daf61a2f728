/// How large a picture is, in pixels.
public struct ImageSize: Hashable, Sendable, CustomStringConvertible {
    /// How many pixels a row has, 1 or more.
    public let width: Int
    /// How many rows there are, 1 or more.
    public let height: Int

    /// Makes a size; `nil` if a side is less than 1, or if the bytes of such a picture could not be counted.
    public init?(width: Int, height: Int) {
        guard width > 0, height > 0 else { return nil }
        let (count, isTooMany) = width.multipliedReportingOverflow(by: height)
        guard !isTooMany, count <= Int.max / Image.bytesPerPixel else { return nil }
        self.width = width
        self.height = height
    }

    /// A size whose sides are at least 1, whatever they are asked to be, and at most ``longestSide``.
    public init(clamping width: Int, _ height: Int) {
        self.width = min(max(1, width), Self.longestSide)
        self.height = min(max(1, height), Self.longestSide)
    }

    /// The longest side that a clamped size has, 1,000,000 pixels.
    public static let longestSide = 1_000_000

    /// How many pixels there are.
    public var pixelCount: Int { width * height }
    /// How many bytes the pixels take.
    public var byteCount: Int { pixelCount * Image.bytesPerPixel }
    /// The larger side.
    public var longerSide: Int { max(width, height) }
    /// The size of the picture on its side.
    public var transposed: ImageSize { ImageSize(unchecked: height, width) }

    /// The size with sides divided by a number, rounded up, as decoders reduce a picture; by 1 if the number is less.
    public func divided(by divisor: Int) -> ImageSize {
        let divisor = max(1, divisor)
        return ImageSize(unchecked: (width - 1) / divisor + 1, (height - 1) / divisor + 1)
    }

    private init(unchecked width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    /// The size as it is usually written, such as `640×480`.
    public var description: String { "\(width)×\(height)" }
}
