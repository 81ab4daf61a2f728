/// A bitmap image with four bytes per pixel. Rows are stored top to bottom, and pixels left to right.
///
/// ```swift
/// var image = Image(size: ImageSize(clamping: 640, 480), color: .black)
/// image.update { pixels in
///     pixels[0] = 255  // The red component of the top left pixel.
/// }
/// print(image[0, 0].red)  // 255
/// ```
public struct Image: Hashable, Sendable {
    /// The number of bytes per pixel: red, green, blue, and alpha, as described by ``Color``.
    public static let bytesPerPixel = 4

    /// The size of the stored pixels, before the orientation is applied.
    public let size: ImageSize
    /// The pixels, four bytes each, without padding.
    public private(set) var bytes: [UInt8]
    /// How to rotate or mirror the stored pixels for display.
    public var orientation: Orientation

    /// Creates an image from pixels, or returns `nil` if the number of bytes does not match the size.
    public init?(size: ImageSize, bytes: [UInt8], orientation: Orientation = .up) {
        guard bytes.count == size.byteCount else { return nil }
        self.size = size
        self.bytes = bytes
        self.orientation = orientation
    }

    /// Creates an image that is filled with one color.
    public init(size: ImageSize, color: Color = .clear) {
        self.init(size: size) { pixels in
            var index = 0
            while index < pixels.count {
                pixels[index] = color.red
                pixels[index + 1] = color.green
                pixels[index + 2] = color.blue
                pixels[index + 3] = color.alpha
                index += Image.bytesPerPixel
            }
        }
    }

    /// Creates an image from the pixels that a closure writes. They are initially clear.
    ///
    /// ```swift
    /// let gradient = Image(size: ImageSize(clamping: 256, 1)) { pixels in
    ///     for x in 0..<256 {
    ///         pixels[4 * x] = UInt8(x)
    ///         pixels[4 * x + 3] = 255
    ///     }
    /// }
    /// ```
    ///
    /// - Throws: The error that the closure throws.
    @inlinable
    public init<Failure: Error>(
        size: ImageSize,
        orientation: Orientation = .up,
        _ write: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var bytes = [UInt8](repeating: 0, count: size.byteCount)
        var pixels = bytes.mutableSpan
        try write(&pixels)
        self.init(checked: size, bytes, orientation)
    }

    @usableFromInline
    init(checked size: ImageSize, _ bytes: [UInt8], _ orientation: Orientation) {
        self.size = size
        self.bytes = bytes
        self.orientation = orientation
    }

    /// Changes the pixels in place. If another image shares the storage, the pixels are copied first.
    ///
    /// - Throws: The error that the closure throws.
    public mutating func update<Failure: Error>(
        _ change: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var pixels = bytes.mutableSpan
        try change(&pixels)
    }

    /// The stored color of a pixel, with the origin at the top left, or clear for a pixel outside the image.
    public subscript(x: Int, y: Int) -> Color {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return .clear }
        let index = (y * size.width + x) * Self.bytesPerPixel
        return Color(red: bytes[index], green: bytes[index + 1], blue: bytes[index + 2], alpha: bytes[index + 3])
    }

    /// Whether every pixel is fully opaque.
    ///
    /// - Complexity: O(n) in the number of pixels.
    public var isOpaque: Bool { isOpaque(inRows: 0..<size.height) }

    /// Whether every pixel of some rows is fully opaque.
    func isOpaque(inRows rows: Range<Int>) -> Bool {
        let stride = size.width * Self.bytesPerPixel
        let pixels = bytes.span.extracting(rows.lowerBound * stride..<rows.upperBound * stride)
        var alpha: UInt8 = 255
        var index = 3
        while index < pixels.count {
            alpha &= pixels[index]
            index += Self.bytesPerPixel
        }
        return alpha == 255
    }
}

extension Image: CustomStringConvertible, CustomReflectable {
    /// The size of the image. The pixels are omitted.
    public var description: String { "image of \(size)" }

    /// A mirror with the size and the orientation. The pixels are omitted.
    public var customMirror: Mirror { Mirror(self, children: ["size": size, "orientation": orientation]) }
}

/// The size of an image, in pixels.
///
/// ```swift
/// let size = ImageSize(width: 640, height: 480)       // nil if a side is less than 1
/// let thumbnail = ImageSize(clamping: 64, 64)         // clamps the sides instead
/// ```
public struct ImageSize: Hashable, Sendable, CustomStringConvertible {
    /// The number of pixels per row, at least 1.
    public let width: Int
    /// The number of rows, at least 1.
    public let height: Int

    /// Creates a size, or returns `nil` if a side is less than 1 or the number of bytes would overflow an `Int`.
    public init?(width: Int, height: Int) {
        guard width > 0, height > 0 else { return nil }
        let (count, isTooMany) = width.multipliedReportingOverflow(by: height)
        guard !isTooMany, count <= Int.max / Image.bytesPerPixel else { return nil }
        self.width = width
        self.height = height
    }

    /// Creates a size whose sides are clamped to the range from 1 to ``longestSide``.
    public init(clamping width: Int, _ height: Int) {
        self.width = min(max(1, width), Self.longestSide)
        self.height = min(max(1, height), Self.longestSide)
    }

    /// The maximum side of a clamped size, 1,000,000 pixels.
    public static let longestSide = 1_000_000

    /// The number of pixels.
    public var pixelCount: Int { width * height }
    /// The number of bytes that the pixels occupy.
    public var byteCount: Int { pixelCount * Image.bytesPerPixel }
    /// The length of the longer side.
    public var longerSide: Int { max(width, height) }
    /// The size with width and height swapped.
    public var transposed: ImageSize { ImageSize(unchecked: height, width) }

    /// Returns the size with both sides divided by a divisor and rounded up, which is the size of an image that is decoded with
    /// this reduction. A divisor less than 1 counts as 1.
    public func divided(by divisor: Int) -> ImageSize {
        let divisor = max(1, divisor)
        return ImageSize(unchecked: (width - 1) / divisor + 1, (height - 1) / divisor + 1)
    }

    private init(unchecked width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    /// The size in the form `640×480`.
    public var description: String { "\(width)×\(height)" }
}

/// How to rotate or mirror the stored pixels of an image for display.
///
/// ```swift
/// var photo = image
/// photo.orientation = .right
/// let upright = try Orient().filtered(photo)
/// print(upright.orientation, upright.size == photo.size.transposed)  // up true
/// ```
///
/// The raw values are those of the TIFF 6.0 tag 0x0112, which Exif uses.
public enum Orientation: Int, Hashable, Sendable, CaseIterable {
    /// Display the image as it is stored.
    case up = 1
    /// Mirror the image horizontally.
    case upMirrored = 2
    /// Rotate the image by 180°.
    case down = 3
    /// Mirror the image vertically.
    case downMirrored = 4
    /// Swap rows and columns.
    case leftMirrored = 5
    /// Rotate the image by 90° clockwise.
    case right = 6
    /// Swap rows and columns, and rotate the image by 180°.
    case rightMirrored = 7
    /// Rotate the image by 90° counterclockwise.
    case left = 8

    /// Whether width and height are swapped for display.
    public var swapsSides: Bool { rawValue >= Orientation.leftMirrored.rawValue }
}

/// An sRGB color (IEC 61966-2-1) with alpha.
///
/// ```swift
/// let orange = Color(red: 255, green: 140, blue: 0)
/// let shade = Color(gray: 0, alpha: 128)  // Half-transparent black.
/// loader.addPlugin(Background(orange))
/// loader.addPlugin(Watermark(.text("Example", shade)))
/// ```
public struct Color: Hashable, Sendable {
    /// The sRGB-encoded red component.
    public var red: UInt8
    /// The sRGB-encoded green component.
    public var green: UInt8
    /// The sRGB-encoded blue component.
    public var blue: UInt8
    /// The opacity, from 0 (clear) to 255 (opaque). The color components are not premultiplied.
    public var alpha: UInt8

    /// Creates a color from its components. It is opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Creates a gray.
    public init(gray: UInt8, alpha: UInt8 = 255) {
        self.init(red: gray, green: gray, blue: gray, alpha: alpha)
    }

    /// Fully transparent.
    public static let clear = Color(gray: 0, alpha: 0)
    /// Opaque black.
    public static let black = Color(gray: 0)
    /// Opaque white.
    public static let white = Color(gray: 255)
}
