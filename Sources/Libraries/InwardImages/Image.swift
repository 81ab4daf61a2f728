/// A picture: pixels in rows from the top, each from the left.
public struct Image: Hashable, Sendable {
    /// How many bytes a pixel takes: red, green, blue and alpha, as ``Color`` describes them.
    public static let bytesPerPixel = 4

    /// How large it is, as it is stored.
    public let size: ImageSize
    /// The pixels, four bytes each, without gaps; as many as the size says.
    public private(set) var bytes: [UInt8]
    /// How it is to be turned to show it.
    public var orientation: Orientation

    /// Makes a picture of its pixels; `nil` if they are not as many as the size says.
    public init?(size: ImageSize, bytes: [UInt8], orientation: Orientation = .up) {
        guard bytes.count == size.byteCount else { return nil }
        self.size = size
        self.bytes = bytes
        self.orientation = orientation
    }

    /// Makes a picture of one colour.
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

    /// Makes a picture whose pixels are written by a function; they are clear before.
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

    /// Changes the pixels where they are, if nobody else has this picture, and those of a copy otherwise.
    public mutating func update<Failure: Error>(
        _ change: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var pixels = bytes.mutableSpan
        try change(&pixels)
    }

    /// The colour of a pixel, counted from 0 at the left and at the top; clear outside of the picture.
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
    public var description: String { "picture of \(size)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["size": size, "orientation": orientation]) }
}
