import InwardImages

extension Image {
    /// An image without edges, in which each column and each row has another colour. It is opaque, or at least half opaque if
    /// it is to be clear.
    static func smooth(_ size: ImageSize, isClear: Bool = false) -> Image {
        // What is as small as a block of a format has no edges either, nor have its neighbours.
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

    /// An image in which no pixel follows from another, nor does alpha.
    static func noise(_ size: ImageSize, _ random: inout SplitMix64) -> Image {
        Image(size: size) { random.fill(&$0) }
    }

    /// How long a side of a region is: blocks of the usual formats end where a region does, so that lossy formats keep it.
    private static let regionSide = 32
    /// Which of eight colours the regions have. No two neighbours have the same, and no turn or reflection looks alike.
    private static let regionColors = [[1, 6, 3, 4, 2], [4, 0, 7, 1, 5], [2, 5, 1, 6, 0], [7, 3, 4, 0, 6]]

    /// An image of square regions, each in another colour than its neighbours by 160 steps in one part or more.
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

    /// A grey image of waves. Each of its rows takes about as many bytes in a lossy format.
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

    /// The image with its last pixel first.
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

    /// The image with another orientation.
    func oriented(_ orientation: Orientation) -> Image {
        var image = self
        image.orientation = orientation
        return image
    }
}

extension Image {
    /// The image with sides divided by a number: each pixel is the mean of those it stands for.
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

    /// How far the farthest part of a colour is from that of another image of this size, in so many rows from the top.
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

    /// Whether another image has this size and orientation, and no colour that is farther from this image's than allowed.
    func isSimilar(to other: Image, within tolerance: Int) -> Bool {
        size == other.size && orientation == other.orientation && largestDifference(from: other) <= tolerance
    }
}
