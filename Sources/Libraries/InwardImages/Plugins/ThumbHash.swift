/// What an image looks like from afar, in some 25 bytes: its proportions, its colours, and a blur of it to show until it is
/// there.
///
/// It is Evan Wallace's format of 2023, whose readers exist for most languages: a cosine transform of the brightness (L), of
/// yellow against blue (P), of red against green (Q), and of alpha if the image can be seen through.
public struct ThumbHash: Hashable, Sendable {
    /// The bytes as the format defines them, from 16 to 25 for most images.
    public let bytes: [UInt8]

    /// Takes over bytes that were made before; `nil` if they are not as many as their first ones say.
    public init?(bytes: [UInt8]) {
        guard let header = ThumbHashHeader(bytes), header.byteCount == bytes.count else { return nil }
        self.bytes = bytes
    }

    /// Makes the hash of an image, as it is stored.
    ///
    /// An image with a side of more than 100 pixels is brought down to that before.
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

    /// The blur that stands for the image, 32 pixels along its longer side.
    public func image() -> Image {
        let ratio = aspectRatio
        let size = ImageSize(
            clamping: ratio > 1 ? 32 : Int((32 * ratio).rounded()),
            ratio > 1 ? Int((32 / ratio).rounded()) : 32
        )
        return image(size: size)
    }

    /// The blur that stands for the image at a size, of which no pixel shows: each is computed from the waves.
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

extension ThumbHash {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The bytes as a text, some 28 to 36 characters that a page or a record can hold (RFC 4648, section 4).
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

    /// Reads a text that ``base64`` made, or anything else that makes the same of it; `nil` if it is none, or not of a hash.
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
        // What is left over of the last digit means nothing, and has to be zero, or two texts would mean the same.
        guard bits == 0 else { return nil }
        self.init(bytes: bytes)
    }
}

/// What the first five or six bytes of a hash say.
struct ThumbHashHeader {
    /// The means of brightness, yellow against blue, red against green, and alpha.
    let mean: SIMD4<Float>
    /// How far the waves of each go from the mean.
    let scale: SIMD4<Float>
    /// Whether the image can be seen through.
    let hasAlpha: Bool
    /// How many waves of brightness there are across, at least 1.
    let columns: Int
    /// How many waves of brightness there are down, at least 1.
    let rows: Int

    /// Reads it; `nil` if there are not enough bytes for it.
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

    /// Where the waves begin.
    var start: Int { hasAlpha ? 6 : 5 }

    /// How many waves there are across and down, of brightness, of each of the colours, and of alpha.
    var waves: [ThumbHashWaves] {
        let colors = [
            ThumbHashWaves(columns: max(3, columns), rows: max(3, rows)), ThumbHashWaves(columns: 3, rows: 3),
            ThumbHashWaves(columns: 3, rows: 3),
        ]
        return hasAlpha ? colors + [ThumbHashWaves(columns: 5, rows: 5)] : colors
    }

    /// How many bytes the hash has, with half of one for each wave.
    var byteCount: Int { start + (waves.reduce(0) { $0 + $1.pairs.count } + 1) / 2 }
}

/// Which waves of a channel are kept: the slower ones, of a triangle.
struct ThumbHashWaves {
    /// How many there are across.
    let columns: Int
    /// How many there are down.
    let rows: Int

    /// The waves without the mean, in the order they are stored in: how often each swings across and down.
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
