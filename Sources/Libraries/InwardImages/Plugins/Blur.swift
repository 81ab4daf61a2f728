/// Blurs a picture, nearly as a Gaussian does.
///
/// The encoded values are mixed, as the filter `blur()` of CSS does, so a picture blurs here as it does on a page. They count
/// by what can be seen of them, and beyond the edges the picture goes on as it ends there.
public struct Blur: ImageFilter {
    /// The standard deviation of the Gaussian in pixels.
    public let radius: Double

    /// The largest radius, in pixels.
    public static let largestRadius = 1000.0

    /// Blurs pictures.
    ///
    /// - Parameter radius: The standard deviation of the Gaussian in pixels. One that is less than 0 or no number is taken for
    ///   0, and one that is more than ``largestRadius`` for that. Less than 0.798 changes nothing.
    public init(radius: Double) {
        self.radius = radius > 0 ? min(radius, Self.largestRadius) : 0
    }

    /// The blurred picture.
    ///
    /// - Complexity: O(n) in the number of pixels, whatever the radius, and twice the memory of the picture meanwhile.
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        try BoxBlur.blurred(image, radius: radius)
    }

    /// Three times the picture: the result, and what is blurred in one direction.
    public func workingBytes(for size: ImageSize) -> Int { 3 * size.byteCount }
}
