/// What an image from outside may be, and what images may take.
public struct ImageLimits: Hashable, Sendable {
    /// How many bytes an encoded image may have.
    public var encodedBytes: Int
    /// How many pixels an image may have, as it is stored.
    public var pixels: Int
    /// How many pixels a side may have.
    public var side: Int
    /// How long decoding an image may take.
    public var decodingTime: Duration

    /// Sets limits: 32 MiB encoded, 50 megapixels, 16,384 on a side and 30 seconds to decode, unless something else is said.
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

    /// Why an image is refused, as the end of a sentence; `nil` if it is not.
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
