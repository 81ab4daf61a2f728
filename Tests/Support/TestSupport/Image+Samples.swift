package import InwardImages

extension Image {
    /// Returns an image in which every pixel differs from the next. `expected.py` creates the same image.
    package static func sample(_ width: Int, _ height: Int, opaque: Bool = false) -> Image {
        Image(size: ImageSize(clamping: width, height)) { pixels in
            for i in pixels.indices {
                let isAlpha = i % 4 == 3
                pixels[i] = opaque && isAlpha ? 255 : UInt8((i * i * 3 + i * 73 + i / 5 * 29) % 256)
            }
        }
    }

    /// Returns an image in which colors change slowly. `expected.py` creates the same image.
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

    /// Returns an image of one color.
    package static func plain(_ width: Int, _ height: Int, _ color: Color) -> Image {
        Image(size: ImageSize(clamping: width, height), color: color)
    }

    /// Returns the largest difference between a byte and the expected byte, or 256 if the counts differ.
    package func distance(from expected: [UInt8]) -> Int {
        guard bytes.count == expected.count else { return 256 }
        return zip(bytes, expected).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    /// Returns the largest difference between a byte and that of another image, or 256 if the sizes differ.
    package func distance(from other: Image) -> Int {
        size == other.size ? distance(from: other.bytes) : 256
    }

    /// The alpha values of all pixels.
    package var alphas: [UInt8] { stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] } }
}
