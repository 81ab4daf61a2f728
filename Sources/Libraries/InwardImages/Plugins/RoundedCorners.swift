/// A filter that rounds the corners of an image with anti-aliased edges. The area outside the corners becomes clear.
///
/// ```swift
/// loader.addPlugin(RoundedCorners(radius: 12))
/// ```
public struct RoundedCorners: ImageFilter {
    /// The radius of the corners, in pixels.
    public let radius: Double

    /// Creates a filter that rounds corners.
    ///
    /// - Parameter radius: The radius, in pixels. Negative numbers and NaN count as 0. The radius is limited to half the
    ///   shorter side of each image, which gives semicircular ends.
    public init(radius: Double) {
        self.radius = radius > 0 ? radius : 0
    }

    /// Returns the image with rounded corners.
    public func filtered(_ image: Image) -> Image {
        var image = image
        image.roundCorners(radius: radius)
        return image
    }
}

/// A filter that cuts the largest centered circle out of an image, as for avatars.
///
/// ```swift
/// loader.addPlugin(Circle())
/// ```
public struct Circle: ImageFilter {
    /// Creates a circle filter.
    public init() {}

    /// Returns a square image that contains the circle. Its side is the shorter side of the image. The area outside the circle
    /// is clear, and the edge is anti-aliased.
    public func filtered(_ image: Image) -> Image {
        let side = min(image.size.width, image.size.height)
        guard let square = ImageSize(width: side, height: side) else { return image }
        var circle = image.cropped(to: PixelRectangle(square, at: .center, of: image.size))
        circle.roundCorners(radius: Double(side) / 2)
        return circle
    }
}

extension Image {
    /// Clears the area outside rounded corners, and fades edge pixels according to their coverage.
    ///
    /// - Parameter radius: The radius, in pixels, limited to half the shorter side.
    mutating func roundCorners(radius: Double) {
        let (width, height) = (size.width, size.height)
        let radius = min(radius, Double(min(width, height)) / 2)
        let reach = Int(radius.rounded(.up))
        update { pixels in
            for y in 0..<height where y < reach || y >= height - reach {
                // The vertical distance from the middle of the row to the center of the corner.
                let down = radius - 0.5 - Double(min(y, height - 1 - y))
                for x in 0..<reach {
                    let across = radius - 0.5 - Double(x)
                    // Pixels beyond the center, or in its row or column, are not in the corner.
                    guard across > 0, down > 0 else { continue }
                    let distance = (across * across + down * down).squareRoot()
                    let coverage = min(max(radius + 0.5 - distance, 0), 1)
                    guard coverage < 1 else { continue }
                    let share = Int((coverage * 255).rounded())
                    pixels.fade(at: y * width + x, to: share)
                    pixels.fade(at: y * width + width - 1 - x, to: share)
                }
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Multiplies the alpha of a pixel by `share` / 255. A pixel that becomes invisible is cleared.
    fileprivate mutating func fade(at pixel: Int, to share: Int) {
        let index = pixel * Image.bytesPerPixel
        let alpha = (Int(self[index + 3]) * share + 127) / 255
        self[index + 3] = UInt8(alpha)
        guard alpha == 0 else { return }
        self[index] = 0
        self[index + 1] = 0
        self[index + 2] = 0
    }
}

/// A filter that blends an image with a background color. The result is opaque.
///
/// ```swift
/// loader.addPlugin(Background(.white))
/// ```
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
