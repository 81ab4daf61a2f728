package import InwardImages

extension Image {
    /// An image in which everything changes from pixel to pixel; expected.py makes the same.
    package static func sample(_ width: Int, _ height: Int, opaque: Bool = false) -> Image {
        Image(size: ImageSize(clamping: width, height)) { pixels in
            for i in pixels.indices {
                let isAlpha = i % 4 == 3
                pixels[i] = opaque && isAlpha ? 255 : UInt8((i * i * 3 + i * 73 + i / 5 * 29) % 256)
            }
        }
    }

    /// An image in which colours change slowly; expected.py makes the same.
    package static func smooth(_ width: Int, _ height: Int, opaque: Bool = true) -> Image {
        Image(size: ImageSize(clamping: width, height)) { pixels in
            for y in 0..<height {
                for x in 0..<width {
                    let i = 4 * (y * width + x)
                    pixels[i] = UInt8(x * x * 255 / (width * width))
                    pixels[i + 1] = UInt8((y * y + x) * 255 / (height * height + width))
                    pixels[i + 2] = UInt8(x * y * 200 / (width * height) + 30)
                    pixels[i + 3] = opaque ? 255 : UInt8(255 - (x * x * 3 + y * y * 5 + x * y * 7) % 160)
                }
            }
        }
    }

    /// An image of one colour.
    package static func plain(_ width: Int, _ height: Int, _ color: Color) -> Image {
        Image(size: ImageSize(clamping: width, height), color: color)
    }

    /// How far the byte that is farthest from what is expected is from it; 256 if there are not as many.
    package func distance(from expected: [UInt8]) -> Int {
        guard bytes.count == expected.count else { return 256 }
        return zip(bytes, expected).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    /// How far the byte that is farthest from that of another image is from it; 256 if that has another size.
    package func distance(from other: Image) -> Int {
        size == other.size ? distance(from: other.bytes) : 256
    }

    /// The alpha of all pixels.
    package var alphas: [UInt8] { stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] } }
}
