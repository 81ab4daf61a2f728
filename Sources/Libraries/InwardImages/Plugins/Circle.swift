/// Cuts the largest circle out of the middle of a picture.
public struct Circle: ImageFilter {
    /// Cuts circles out of pictures.
    public init() {}

    /// A square as large as the shorter side of the picture, with the circle in it: what is outside of it is clear, and its
    /// edge is smooth.
    public func filtered(_ image: Image) -> Image {
        let side = min(image.size.width, image.size.height)
        guard let square = ImageSize(width: side, height: side) else { return image }
        var circle = image.cropped(to: PixelRectangle(square, at: .center, of: image.size))
        circle.roundCorners(radius: Double(side) / 2)
        return circle
    }
}
