public import InwardCore

/// A compact placeholder for an image: its aspect ratio, its colors, and a blurred preview, in 17 to 25 bytes.
///
/// ```swift
/// let hash = try ThumbHash(of: image)
/// let text = hash.base64  // Store it next to the image's address.
/// let preview = ThumbHash(base64: text)?.image()
/// ```
///
/// It uses Evan Wallace's ThumbHash format (2023), which has decoders for most languages. The format stores a cosine transform
/// of the luminance (L), yellow versus blue (P), red versus green (Q), and alpha if the image has transparency.
public struct ThumbHash: Hashable, Sendable {
    /// The encoded bytes. The hash of an image has 17 to 25.
    public let bytes: [UInt8]

    /// Creates a hash from encoded bytes, or returns `nil` if their number does not match their header.
    public init?(bytes: [UInt8]) {
        guard let header = ThumbHashHeader(bytes), header.byteCount == bytes.count else { return nil }
        self.bytes = bytes
    }

    /// Creates the hash of the stored pixels of an image. An image with a side longer than 100 pixels is shrunk first.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public init(of image: Image) throws(CancellationError) {
        let small = try Resize(width: 100, height: 100).filtered(image)
        bytes = ThumbHashEncoder(small).bytes()
    }

    /// The average color, weighted by alpha.
    public var averageColor: Color {
        guard let header = ThumbHashHeader(bytes) else { return .clear }
        return Self.color(of: header.mean)
    }

    /// The approximate ratio of width to height: a fraction of two whole numbers up to 7.
    public var aspectRatio: Double {
        guard let header = ThumbHashHeader(bytes) else { return 1 }
        return Double(header.columns) / Double(header.rows)
    }

    /// Returns the blurred preview, with a longer side of 32 pixels.
    public func image() -> Image {
        let ratio = aspectRatio
        let size = ImageSize(
            clamping: ratio > 1 ? 32 : Int((32 * ratio).rounded()),
            ratio > 1 ? Int((32 / ratio).rounded()) : 32
        )
        return image(size: size)
    }

    /// Returns the blurred preview at a size. Each pixel is computed from the transform, so the result is smooth at any size.
    public func image(size: ImageSize) -> Image {
        guard let decoder = ThumbHashDecoder(bytes) else { return Image(size: size) }
        return decoder.image(size: size)
    }

    /// Returns the color for luminance (x), yellow versus blue (y), red versus green (z), and alpha (w).
    static func color(of parts: SIMD4<Float>) -> Color {
        let blue = parts.x - 2 / 3 * parts.y
        let red = (3 * parts.x - blue + parts.z) / 2
        let levels = SIMD4(red, red - parts.z, blue, parts.w).clamped(lowerBound: .zero, upperBound: .one) * 255 + 0.5
        return Color(red: UInt8(levels.x), green: UInt8(levels.y), blue: UInt8(levels.z), alpha: UInt8(levels.w))
    }
}

extension ThumbHash {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The bytes as Base64 text (RFC 4648, section 4). The hash of an image has 24 to 36 characters.
    public var base64: String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let digit = Self.digits[Int(bits >> UInt32(6 * (3 - place)) & 63)]
                text.append(place <= group.count ? digit : Self.padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Creates a hash from Base64 text, or returns `nil` if the text is not the Base64 encoding of a hash.
    public init?(base64: String) {
        let text = Array(base64.utf8)
        let digits = text.prefix { $0 != Self.padding }
        guard text.count % 4 == 0, text.count - digits.count < 3 else { return nil }
        guard text[digits.endIndex...].allSatisfy({ $0 == Self.padding }) else { return nil }
        var bytes: [UInt8] = []
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        for character in digits {
            guard let digit = Self.digits.firstIndex(of: character) else { return nil }
            (bits, bitCount) = (bits << 6 | UInt32(digit), bitCount + 6)
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(bits >> bitCount))
            bits &= 1 << bitCount - 1
        }
        // Unused bits of the last digit must be zero, so that each hash has exactly one encoding.
        guard bits == 0 else { return nil }
        self.init(bytes: bytes)
    }
}

/// The header of a hash, in its first five or six bytes.
struct ThumbHashHeader {
    /// The means of luminance, yellow versus blue, red versus green, and alpha.
    let mean: SIMD4<Float>
    /// The maximum amplitude of each channel's waves.
    let scale: SIMD4<Float>
    /// Whether the image has transparency.
    let hasAlpha: Bool
    /// The number of luminance waves across, at least 1.
    let columns: Int
    /// The number of luminance waves down, at least 1.
    let rows: Int

    /// Reads the header, or returns `nil` if there are not enough bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 5 else { return nil }
        let color = UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16
        let shape = UInt32(bytes[3]) | UInt32(bytes[4]) << 8
        hasAlpha = color >> 23 == 1
        guard !hasAlpha || bytes.count >= 6 else { return nil }
        let alpha = hasAlpha ? bytes[5] : 0x0F
        mean = SIMD4(
            Float(color & 63) / 63,
            Float(color >> 6 & 63) / 31.5 - 1,
            Float(color >> 12 & 63) / 31.5 - 1,
            Float(alpha & 15) / 15
        )
        scale = SIMD4(
            Float(color >> 18 & 31) / 31,
            Float(shape >> 3 & 63) / 63,
            Float(shape >> 9 & 63) / 63,
            Float(alpha >> 4) / 15
        )
        let longer = hasAlpha ? 5 : 7
        let shorter = max(1, Int(shape & 7))
        let isLandscape = shape >> 15 == 1
        columns = isLandscape ? longer : shorter
        rows = isLandscape ? shorter : longer
    }

    /// The index of the first byte that contains waves.
    var start: Int { hasAlpha ? 6 : 5 }

    /// The waves of luminance, both color channels, and alpha if present.
    var waves: [ThumbHashWaves] {
        let colors = [
            ThumbHashWaves(columns: max(3, columns), rows: max(3, rows)), ThumbHashWaves(columns: 3, rows: 3),
            ThumbHashWaves(columns: 3, rows: 3),
        ]
        return hasAlpha ? colors + [ThumbHashWaves(columns: 5, rows: 5)] : colors
    }

    /// The length of the hash, with half a byte for each wave.
    var byteCount: Int { start + (waves.reduce(0) { $0 + $1.pairs.count } + 1) / 2 }
}

/// The waves that the format stores of a channel: a triangle of low frequencies.
struct ThumbHashWaves {
    /// The number of waves across.
    let columns: Int
    /// The number of waves down.
    let rows: Int

    /// The frequencies across and down of each wave except the mean, in storage order.
    var pairs: [(across: Int, down: Int)] {
        var pairs: [(across: Int, down: Int)] = []
        for down in 0..<rows {
            var across = down == 0 ? 1 : 0
            while across * rows < columns * (rows - down) {
                pairs.append((across, down))
                across += 1
            }
        }
        return pairs
    }
}

/// A plugin that replaces a failed image with a placeholder: a text on a color, or the blur of a ``ThumbHash``.
///
/// ```swift
/// loader.addPlugin(Placeholder(size: ImageSize(clamping: 320, 240), text: "No image"))
/// ```
///
/// It passes images and cancellations through. A loader does not cache placeholders, so a later load tries to get the image
/// again.
public struct Placeholder: Plugin {
    private enum Content: Hashable {
        case text(String, Color, on: Color)
        case blur(ThumbHash)
    }

    /// The size of the placeholder.
    public let size: ImageSize
    private let content: Content

    /// Creates a placeholder with a text on a color.
    ///
    /// - Parameters:
    ///   - size: The size of the placeholder.
    ///   - color: The background color.
    ///   - text: The centered text, one line of printable ASCII characters. Other characters appear as boxes. The height is a
    ///     third of the shorter side, or less if the text would be too wide.
    ///   - textColor: The color of the text.
    public init(
        size: ImageSize,
        color: Color = Color(gray: 224),
        text: String = "?",
        textColor: Color = Color(gray: 128)
    ) {
        self.size = size
        content = .text(text, textColor, on: color)
    }

    /// Creates a placeholder with the blurred preview of a hash.
    ///
    /// - Parameters:
    ///   - size: The size of the placeholder.
    ///   - hash: The hash of the expected image.
    public init(size: ImageSize, blur hash: ThumbHash) {
        self.size = size
        content = .blur(hash)
    }

    /// Returns the placeholder for a failure other than a cancellation, and any other value unchanged.
    public func applied(to value: ImageResult) async -> ImageResult {
        guard case .failure(let error) = value, error.reason != .cancelled else { return value }
        return .success(image)
    }

    /// The placeholder image.
    public var image: Image {
        switch content {
        case .blur(let hash):
            return hash.image(size: size)
        case .text(let text, let textColor, let color):
            var image = Image(size: size, color: color)
            guard let lettering = Lettering(text) else { return image }
            let ratio = Double(lettering.columnCount) / Double(Lettering.rowCount)
            let height = min(Double(min(size.width, size.height)) / 3, Double(size.width) * 0.8 / ratio)
            let box = ImageSize(clamping: Int((height * ratio).rounded()), Int(height.rounded()))
            let place = PixelRectangle(box, at: .center, of: size)
            // Moves the text down by one row. It would otherwise appear too high, because two rows are below the baseline.
            let y = place.y + box.height / Lettering.rowCount
            image.draw(lettering.image(size: box, color: textColor), x: place.x, y: y, opacity: 255)
            return image
        }
    }
}
