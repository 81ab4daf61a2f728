import InwardImages

/// What the parts of a colour may be in a reduced image: what they are in the original around the same place.
///
/// However a codec reduces, a pixel comes of those it stands for and of their neighbours. So it is known what a reduced image may
/// look like even if it has edges.
struct ReductionBounds: Sendable {
    /// The size and the orientation of the reduced image.
    private let size: ImageSize
    private let orientation: Orientation
    /// The least and the greatest of each part, for each pixel and those beside it.
    private let least: [UInt8]
    private let greatest: [UInt8]

    /// Finds the bounds for an image with sides divided by a number.
    init(of image: Image, dividedBy divisor: Int) {
        size = image.size.divided(by: divisor)
        orientation = image.orientation
        let (width, height) = (image.size.width, image.size.height)
        let source = image.bytes.span
        var least = [UInt8](repeating: 255, count: size.byteCount)
        var greatest = [UInt8](repeating: 0, count: size.byteCount)
        for y in 0..<height {
            for x in 0..<width {
                for part in 0..<Image.bytesPerPixel {
                    let value = source[(y * width + x) * Image.bytesPerPixel + part]
                    let index = (y / divisor * size.width + x / divisor) * Image.bytesPerPixel + part
                    least[index] = min(least[index], value)
                    greatest[index] = max(greatest[index], value)
                }
            }
        }
        self.least = Self.spread(least, size, min)
        self.greatest = Self.spread(greatest, size, max)
    }

    /// Each value joined with those of the pixels beside it.
    private static func spread(_ values: [UInt8], _ size: ImageSize, _ join: (UInt8, UInt8) -> UInt8) -> [UInt8] {
        var spread = values
        for y in 0..<size.height {
            for x in 0..<size.width {
                for row in max(0, y - 1)...min(size.height - 1, y + 1) {
                    for column in max(0, x - 1)...min(size.width - 1, x + 1) {
                        for part in 0..<Image.bytesPerPixel {
                            let index = (y * size.width + x) * Image.bytesPerPixel + part
                            let other = values[(row * size.width + column) * Image.bytesPerPixel + part]
                            spread[index] = join(spread[index], other)
                        }
                    }
                }
            }
        }
        return spread
    }

    /// How far the farthest part of a colour is out of the bounds, in a reduced image of the right size.
    func largestExcess(of reduced: Image) -> Int {
        var largest = 0
        let values = reduced.bytes.span
        for index in 0..<min(values.count, least.count) {
            // Colours that are hardly seen may be lost: alpha is the last part.
            let alpha = index / Image.bytesPerPixel * Image.bytesPerPixel + Image.bytesPerPixel - 1
            guard index == alpha || least[alpha] >= 128 else { continue }
            largest = max(largest, Int(least[index]) - Int(values[index]), Int(values[index]) - Int(greatest[index]))
        }
        return largest
    }

    /// Whether an image has the size and the orientation, and no colour that is farther out of the bounds than allowed.
    func hold(_ reduced: Image, within tolerance: Int) -> Bool {
        reduced.size == size && reduced.orientation == orientation && largestExcess(of: reduced) <= tolerance
    }
}
