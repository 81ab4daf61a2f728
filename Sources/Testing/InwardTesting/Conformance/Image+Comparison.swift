import InwardImages

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
