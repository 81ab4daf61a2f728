/// A filter that converts an image to grayscale.
///
/// Each pixel becomes the gray with the same luminance: 0.2126 of its red light, 0.7152 of its green, and 0.0722 of its
/// blue (Rec. ITU-R BT.709, which has the same primaries as sRGB). Weighting the sRGB-encoded values instead would be
/// faster, but would make saturated colors too dark.
public struct Grayscale: ImageFilter {
    /// Creates a grayscale filter.
    public init() {}

    /// Returns the image in grayscale, with its alpha unchanged.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        let transfer = SRGBTransfer.tables
        // With constant counts, the compiler can omit bounds checks for byte indices.
        let light = transfer.light.span.extracting(0..<256)
        let levels = transfer.levels.span.extracting(0..<SRGBTransfer.binCount)
        let bounds = transfer.bounds.span.extracting(0..<256)
        let (width, height) = (image.size.width, image.size.height)
        var image = image
        try image.update { pixels throws(CancellationError) in
            var index = 0
            for y in 0..<height {
                if y % 64 == 0, Task.isCancelled { throw CancellationError() }
                for _ in 0..<width {
                    let red = light[Int(pixels[index])] * 0.2126
                    let green = light[Int(pixels[index + 1])] * 0.7152
                    let blue = light[Int(pixels[index + 2])] * 0.0722
                    let level = SRGBTransfer.level(of: red + green + blue, levels, bounds)
                    pixels[index] = level
                    pixels[index + 1] = level
                    pixels[index + 2] = level
                    index += Image.bytesPerPixel
                }
            }
        }
        return image
    }
}
