import Entities

extension Image {
    /// A picture without edges, in which each column and each row has another colour; whole or, if it is asked for, one that
    /// is seen through by less than half.
    static func smooth(_ size: ImageSize, isClear: Bool = false) -> Image {
        // What is as small as a block of a form has no edges either, nor have its neighbours.
        let length = max(64, size.longerSide)
        return Image(size: size) { pixels in
            var index = 0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let right = x * 128 / length
                    let down = y * 128 / length
                    pixels[index] = UInt8(64 + right)
                    pixels[index + 1] = UInt8(64 + down)
                    pixels[index + 2] = UInt8(192 - (right + down) / 2)
                    pixels[index + 3] = isClear ? UInt8(255 - right / 2 - down / 4) : 255
                    index += Image.bytesPerPixel
                }
            }
        }
    }

    /// A picture of which no pixel follows from another, in alpha neither.
    static func noise(_ size: ImageSize, _ random: inout SplitMix64) -> Image {
        Image(size: size) { pixels in
            for index in 0..<pixels.count { pixels[index] = UInt8.random(in: 0...255, using: &random) }
        }
    }

    /// The picture with sides divided by a number: each pixel is the mean of those it stands for.
    func averaged(by divisor: Int) -> Image {
        let reduced = size.divided(by: divisor)
        return Image(size: reduced, orientation: orientation) { pixels in
            var index = 0
            for y in 0..<reduced.height {
                for x in 0..<reduced.width {
                    let columns = x * divisor..<min((x + 1) * divisor, size.width)
                    let rows = y * divisor..<min((y + 1) * divisor, size.height)
                    for part in 0..<Image.bytesPerPixel {
                        var sum = 0
                        for row in rows {
                            for column in columns {
                                sum += Int(bytes[(row * size.width + column) * Image.bytesPerPixel + part])
                            }
                        }
                        pixels[index + part] = UInt8(sum / (rows.count * columns.count))
                    }
                    index += Image.bytesPerPixel
                }
            }
        }
    }

    /// How far the farthest part of a colour is from that of another picture of this size.
    func largestDifference(from other: Image) -> Int {
        var largest = 0
        let (own, others) = (bytes.span, other.bytes.span)
        for index in 0..<min(own.count, others.count) {
            largest = max(largest, abs(Int(own[index]) - Int(others[index])))
        }
        return largest
    }
}
