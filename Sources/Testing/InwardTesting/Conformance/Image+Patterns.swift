import InwardImages

extension Image {
    /// Returns an image without edges in which each column and each row has a different color. It is opaque, or at least half
    /// opaque if `isClear` is set.
    static func smooth(_ size: ImageSize, isClear: Bool = false) -> Image {
        // At least 64, so that an image as small as a single block of a format has no edges either.
        let length = max(64, size.longerSide)
        return Image(size: size) { pixels in
            var index = 0
            for y in 0..<size.height {
                let down = y * 128 / length
                for x in 0..<size.width {
                    let right = x * 128 / length
                    pixels[index] = UInt8(64 + right)
                    pixels[index + 1] = UInt8(64 + down)
                    pixels[index + 2] = UInt8(192 - (right + down) / 2)
                    pixels[index + 3] = isClear ? UInt8(255 - right / 2 - down / 4) : 255
                    index += Image.bytesPerPixel
                }
            }
        }
    }

    /// Returns an image of random pixels, including alpha.
    static func noise(_ size: ImageSize, _ random: inout SplitMix64) -> Image {
        Image(size: size) { random.fill(&$0) }
    }

    /// The side length of a region. The blocks of the usual formats end at region boundaries, so lossy formats preserve the
    /// regions.
    private static let regionSide = 32
    /// The colors of the regions, by number. Neighbors differ, and every rotation and reflection of the pattern is distinct.
    private static let regionColors = [[1, 6, 3, 4, 2], [4, 0, 7, 1, 5], [2, 5, 1, 6, 0], [7, 3, 4, 0, 6]]

    /// Returns an image of square regions. Neighboring regions differ by at least 160 steps in at least one component.
    static func regions(_ size: ImageSize) -> Image {
        Image(size: size) { pixels in
            var index = 0
            for y in 0..<size.height {
                let colors = regionColors[y / regionSide % regionColors.count]
                for x in 0..<size.width {
                    let color = colors[x / regionSide % colors.count]
                    pixels[index] = color & 1 == 0 ? 48 : 208
                    pixels[index + 1] = color & 2 == 0 ? 48 : 208
                    pixels[index + 2] = color & 4 == 0 ? 48 : 208
                    pixels[index + 3] = 255
                    index += Image.bytesPerPixel
                }
            }
        }
    }

    /// Returns a gray image of waves. Each row takes about the same number of bytes in a lossy format.
    static func waves(_ size: ImageSize) -> Image {
        Image(size: size) { pixels in
            var index = 0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let gray = UInt8(96 + y / 8 + abs(x % 16 - 8) * 4 + abs((y + x / 4) % 12 - 6) * 4)
                    for part in 0..<3 { pixels[index + part] = gray }
                    pixels[index + 3] = 255
                    index += Image.bytesPerPixel
                }
            }
        }
    }

    /// The image with its pixels in reverse order.
    var reversed: Image {
        let source = bytes.span
        return Image(size: size, orientation: orientation) { pixels in
            for index in 0..<pixels.count { pixels[index] = source[pixels.count - 4 - index / 4 * 4 + index % 4] }
        }
    }

    /// The image without transparency.
    var opaque: Image {
        var image = self
        image.update { pixels in
            for index in stride(from: 3, to: pixels.count, by: Image.bytesPerPixel) { pixels[index] = 255 }
        }
        return image
    }

    /// Returns the image with another orientation.
    func oriented(_ orientation: Orientation) -> Image {
        var image = self
        image.orientation = orientation
        return image
    }
}

extension Image {
    /// Returns the image with its sides divided by a number. Each pixel is the mean of the pixels it replaces.
    func averaged(by divisor: Int) -> Image {
        let reduced = size.divided(by: divisor)
        let source = bytes.span
        let width = size.width
        let height = size.height
        return Image(size: reduced, orientation: orientation) { pixels in
            var index = 0
            for y in 0..<reduced.height {
                let rows = y * divisor..<min((y + 1) * divisor, height)
                for x in 0..<reduced.width {
                    let columns = x * divisor..<min((x + 1) * divisor, width)
                    for part in 0..<Image.bytesPerPixel {
                        var sum = 0
                        for row in rows {
                            for column in columns {
                                sum += Int(source[(row * width + column) * Image.bytesPerPixel + part])
                            }
                        }
                        pixels[index + part] = UInt8(sum / (rows.count * columns.count))
                    }
                    index += Image.bytesPerPixel
                }
            }
        }
    }

    /// Returns the largest difference of any color component from another image of the same size, in the given number of top
    /// rows.
    func largestDifference(from other: Image, rows: Int = .max) -> Int {
        guard rows < size.height || bytes != other.bytes else { return 0 }
        var largest = 0
        let (own, others) = (bytes.span, other.bytes.span)
        let count = min(own.count, others.count, min(rows, size.height) * size.width * Image.bytesPerPixel)
        for index in 0..<count {
            let difference = abs(Int(own[index]) - Int(others[index]))
            if difference > largest { largest = difference }
        }
        return largest
    }

    /// Returns whether another image has the same size and orientation, and no color component that differs by more than the
    /// tolerance.
    func isSimilar(to other: Image, within tolerance: Int) -> Bool {
        size == other.size && orientation == other.orientation && largestDifference(from: other) <= tolerance
    }
}
