/// Shows an image on a colour: nothing lets anything through then.
///
/// The encoded values are mixed, as browsers do.
public struct Background: ImageFilter {
    /// The colour, which hides all.
    public let color: Color

    /// Shows images on a colour.
    ///
    /// - Parameter color: The colour; its alpha is taken for 255.
    public init(_ color: Color) {
        self.color = Color(red: color.red, green: color.green, blue: color.blue)
    }

    /// The image on the colour.
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
