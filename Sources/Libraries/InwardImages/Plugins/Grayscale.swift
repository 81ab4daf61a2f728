/// Takes the colour out of an image.
///
/// A pixel becomes the grey that gives as much light as it does: 0.2126 of its red light, 0.7152 of its green and 0.0722 of
/// its blue (Rec. ITU-R BT.709, whose primaries sRGB has). Weighing the encoded values instead would be faster and make what
/// is colourful too dark.
public struct Grayscale: ImageFilter {
    /// Takes the colour out of images.
    public init() {}

    /// The image in grey, as much to be seen through as it was.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        let transfer = SRGBTransfer.tables
        // With counts that are known to the compiler, look-ups by a byte need not be checked.
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
