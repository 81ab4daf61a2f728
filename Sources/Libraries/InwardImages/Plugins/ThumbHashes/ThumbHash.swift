/// What a picture looks like from afar, in some 25 bytes: its proportions, its colours, and a blur of it to show until it is
/// there.
///
/// It is Evan Wallace's format of 2023, whose readers exist for most languages: a cosine transform of the brightness (L), of
/// yellow against blue (P), of red against green (Q), and of alpha if the picture can be seen through.
public struct ThumbHash: Hashable, Sendable {
    /// The bytes as the format defines them, from 16 to 25 for most pictures.
    public let bytes: [UInt8]

    /// Takes over bytes that were made before; `nil` if they are not as many as their first ones say.
    public init?(bytes: [UInt8]) {
        guard let header = ThumbHashHeader(bytes), header.byteCount == bytes.count else { return nil }
        self.bytes = bytes
    }

    /// Makes the hash of a picture, as it is stored.
    ///
    /// A picture with a side of more than 100 pixels is brought down to that before.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public init(of image: Image) throws(CancellationError) {
        let small = try Resize(width: 100, height: 100).filtered(image)
        bytes = ThumbHashEncoder(small).bytes()
    }

    /// The mean of the colours, by what can be seen of them.
    public var averageColor: Color {
        guard let header = ThumbHashHeader(bytes) else { return .clear }
        return Self.color(of: header.mean)
    }

    /// The width divided by the height, as nearly as the bytes tell: a fraction of numbers up to 7.
    public var aspectRatio: Double {
        guard let header = ThumbHashHeader(bytes) else { return 1 }
        return Double(header.columns) / Double(header.rows)
    }

    /// The blur that stands for the picture, 32 pixels along its longer side.
    public func image() -> Image {
        let ratio = aspectRatio
        let size = ImageSize(
            clamping: ratio > 1 ? 32 : Int((32 * ratio).rounded()),
            ratio > 1 ? Int((32 / ratio).rounded()) : 32
        )
        return image(size: size)
    }

    /// The blur that stands for the picture at a size, of which no pixel shows: each is computed from the waves.
    public func image(size: ImageSize) -> Image {
        guard let decoder = ThumbHashDecoder(bytes) else { return Image(size: size) }
        return decoder.image(size: size)
    }

    /// The colour of brightness (x), yellow against blue (y), red against green (z), and alpha (w).
    static func color(of parts: SIMD4<Float>) -> Color {
        let blue = parts.x - 2 / 3 * parts.y
        let red = (3 * parts.x - blue + parts.z) / 2
        let levels = SIMD4(red, red - parts.z, blue, parts.w).clamped(lowerBound: .zero, upperBound: .one) * 255 + 0.5
        return Color(red: UInt8(levels.x), green: UInt8(levels.y), blue: UInt8(levels.z), alpha: UInt8(levels.w))
    }
}
