/// Rounds the corners of an image: what is outside of them is clear, and their edges are smooth.
public struct RoundedCorners: ImageFilter {
    /// The radius of the corners in pixels.
    public let radius: Double

    /// Rounds corners.
    ///
    /// - Parameter radius: Their radius in pixels. One that is less than 0 or no number is taken for 0, and one that is more
    ///   than half the shorter side of an image for that, so that the image ends in half circles.
    public init(radius: Double) {
        self.radius = radius > 0 ? radius : 0
    }

    /// The image with rounded corners.
    public func filtered(_ image: Image) -> Image {
        var image = image
        image.roundCorners(radius: radius)
        return image
    }
}

/// Cuts the largest circle out of the middle of an image.
public struct Circle: ImageFilter {
    /// Cuts circles out of images.
    public init() {}

    /// A square as large as the shorter side of the image, with the circle in it: what is outside of it is clear, and its
    /// edge is smooth.
    public func filtered(_ image: Image) -> Image {
        let side = min(image.size.width, image.size.height)
        guard let square = ImageSize(width: side, height: side) else { return image }
        var circle = image.cropped(to: PixelRectangle(square, at: .center, of: image.size))
        circle.roundCorners(radius: Double(side) / 2)
        return circle
    }
}

extension Image {
    /// Makes clear what is outside of rounded corners, and their edge as clear as the part of each pixel that is outside.
    ///
    /// - Parameter radius: In pixels; half the shorter side if it is more.
    mutating func roundCorners(radius: Double) {
        let (width, height) = (size.width, size.height)
        let radius = min(radius, Double(min(width, height)) / 2)
        let reach = Int(radius.rounded(.up))
        update { pixels in
            for y in 0..<height where y < reach || y >= height - reach {
                // How far the middle of the row is above, or below, the centre of the corner.
                let down = radius - 0.5 - Double(min(y, height - 1 - y))
                for x in 0..<reach {
                    let across = radius - 0.5 - Double(x)
                    // Beyond the centre, in the middle row or column, there is no corner.
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
    /// Multiplies the alpha of a pixel by a share of 255; one that cannot be seen then is clear.
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
