/// Limits for untrusted images.
public struct ImageLimits: Hashable, Sendable {
    /// The maximum number of bytes of an encoded image.
    public var encodedBytes: Int
    /// The maximum number of stored pixels.
    public var pixels: Int
    /// The maximum length of a side, in pixels.
    public var side: Int
    /// The maximum time to decode an image.
    public var decodingTime: Duration

    /// Creates limits. By default, an image may have 32 MiB encoded, 50 megapixels, 16,384 pixels per side, and 30
    /// seconds of decoding time.
    public init(
        encodedBytes: Int = 32 * 1_024 * 1_024,
        pixels: Int = 50_000_000,
        side: Int = 16_384,
        decodingTime: Duration = .seconds(30)
    ) {
        self.encodedBytes = encodedBytes
        self.pixels = pixels
        self.side = side
        self.decodingTime = decodingTime
    }

    /// Returns why an image is rejected, as the end of a sentence, or `nil` if it is allowed.
    func refusal(of header: ImageHeader) -> String? {
        if header.size.longerSide > side {
            return "is \(header.size), and no side may have more than \(side) pixels"
        }
        if header.size.pixelCount > pixels {
            return "is \(header.size), which is more than the \(pixels) pixels allowed"
        }
        return nil
    }
}
