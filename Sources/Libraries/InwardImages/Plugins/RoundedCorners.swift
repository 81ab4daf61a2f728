/// Rounds the corners of a picture: what is outside of them is clear, and their edges are smooth.
public struct RoundedCorners: ImageFilter {
    /// The radius of the corners in pixels.
    public let radius: Double

    /// Rounds corners.
    ///
    /// - Parameter radius: Their radius in pixels. One that is less than 0 or no number is taken for 0, and one that is more
    ///   than half the shorter side of a picture for that, so that the picture ends in half circles.
    public init(radius: Double) {
        self.radius = radius > 0 ? radius : 0
    }

    /// The picture with rounded corners.
    public func filtered(_ image: Image) -> Image {
        var image = image
        image.roundCorners(radius: radius)
        return image
    }
}
