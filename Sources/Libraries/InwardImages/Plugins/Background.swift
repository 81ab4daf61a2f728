/// A filter that blends an image with a background color. The result is opaque.
///
/// It blends sRGB-encoded values, as browsers do.
public struct Background: ImageFilter {
    /// The background color, which is opaque.
    public let color: Color

    /// Creates a background filter.
    ///
    /// - Parameter color: The color. Its alpha is ignored.
    public init(_ color: Color) {
        self.color = Color(red: color.red, green: color.green, blue: color.blue)
    }

    /// Returns the image on the background color.
    public func filtered(_ image: Image) -> Image {
        guard !image.isOpaque else { return image }
        let (red, green, blue) = (Int(color.red), Int(color.green), Int(color.blue))
        var image = image
        image.update { pixels in
            var index = 0
            while index < pixels.count {
                let alpha = Int(pixels[index + 3])
                if alpha < 255 {
                    let rest = 255 - alpha
                    pixels[index] = UInt8((Int(pixels[index]) * alpha + red * rest + 127) / 255)
                    pixels[index + 1] = UInt8((Int(pixels[index + 1]) * alpha + green * rest + 127) / 255)
                    pixels[index + 2] = UInt8((Int(pixels[index + 2]) * alpha + blue * rest + 127) / 255)
                    pixels[index + 3] = 255
                }
                index += Image.bytesPerPixel
            }
        }
        return image
    }
}
