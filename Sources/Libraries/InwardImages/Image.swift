/// An image: pixels in rows from the top, each from the left.
public struct Image: Hashable, Sendable {
    /// How many bytes a pixel takes: red, green, blue and alpha, as ``Color`` describes them.
    public static let bytesPerPixel = 4

    /// How large it is, as it is stored.
    public let size: ImageSize
    /// The pixels, four bytes each, without gaps; as many as the size says.
    public private(set) var bytes: [UInt8]
    /// How it is to be turned to show it.
    public var orientation: Orientation

    /// Makes an image of its pixels; `nil` if they are not as many as the size says.
    public init?(size: ImageSize, bytes: [UInt8], orientation: Orientation = .up) {
        guard bytes.count == size.byteCount else { return nil }
        self.size = size
        self.bytes = bytes
        self.orientation = orientation
    }

    /// Makes an image of one colour.
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

    /// Makes an image whose pixels are written by a function; they are clear before.
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

    /// Changes the pixels where they are, if nobody else has this image, and those of a copy otherwise.
    public mutating func update<Failure: Error>(
        _ change: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var pixels = bytes.mutableSpan
        try change(&pixels)
    }

    /// The colour of a pixel, counted from 0 at the left and at the top; clear outside of the image.
    public subscript(x: Int, y: Int) -> Color {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return .clear }
        let index = (y * size.width + x) * Self.bytesPerPixel
        return Color(red: bytes[index], green: bytes[index + 1], blue: bytes[index + 2], alpha: bytes[index + 3])
    }

    /// Whether no pixel lets anything through.
    ///
    /// - Complexity: O(n) in the number of pixels.
    public var isOpaque: Bool {
        let pixels = bytes.span
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
    /// The size; the pixels are too many to show.
    public var description: String { "image of \(size)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["size": size, "orientation": orientation]) }
}

/// How large an image is, in pixels.
public struct ImageSize: Hashable, Sendable, CustomStringConvertible {
    /// How many pixels a row has, 1 or more.
    public let width: Int
    /// How many rows there are, 1 or more.
    public let height: Int

    /// Makes a size; `nil` if a side is less than 1, or if the bytes of such an image could not be counted.
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
    /// The size of the image on its side.
    public var transposed: ImageSize { ImageSize(unchecked: height, width) }

    /// The size with sides divided by a number, rounded up, as decoders reduce an image; by 1 if the number is less.
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

/// How the stored rows of an image are to be turned to show it: the tag 0x0112 of TIFF 6.0, as Exif uses it.
public enum Orientation: Int, Hashable, Sendable, CaseIterable {
    /// As it is stored.
    case up = 1
    /// Left and right swapped.
    case upMirrored = 2
    /// Turned by half.
    case down = 3
    /// Top and bottom swapped.
    case downMirrored = 4
    /// Rows and columns swapped.
    case leftMirrored = 5
    /// To be turned by a quarter, clockwise.
    case right = 6
    /// Rows and columns swapped, and turned by half.
    case rightMirrored = 7
    /// To be turned by a quarter, counterclockwise.
    case left = 8

    /// Whether what is stored as a row is shown as a column.
    public var swapsSides: Bool { rawValue >= Orientation.leftMirrored.rawValue }
}

/// A colour in sRGB (IEC 61966-2-1), and how much it hides what is behind it.
public struct Color: Hashable, Sendable {
    /// How red it is, as sRGB encodes it.
    public var red: UInt8
    /// How green it is, as sRGB encodes it.
    public var green: UInt8
    /// How blue it is, as sRGB encodes it.
    public var blue: UInt8
    /// How much it hides: nothing at 0, all at 255. The other parts are not multiplied by it.
    public var alpha: UInt8

    /// Makes a colour of its parts, one that hides all if nothing is said of it.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Makes a grey of a level.
    public init(gray: UInt8, alpha: UInt8 = 255) {
        self.init(red: gray, green: gray, blue: gray, alpha: alpha)
    }

    /// What cannot be seen.
    public static let clear = Color(gray: 0, alpha: 0)
    /// Black that hides all.
    public static let black = Color(gray: 0)
    /// White that hides all.
    public static let white = Color(gray: 255)
}
