#if Vips
import InwardImages
import InwardTesting

extension Image {
    /// Returns the maximum difference between components at the same position, or 256 if the sizes differ.
    func difference(from other: Image) -> Int {
        guard size == other.size else { return 256 }
        return zip(bytes, other.bytes).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    /// Returns smooth colors with an edge and grain, like a photograph. It is the same in each run.
    static func landscape(size: ImageSize) -> Image {
        var random = SplitMix64(seed: 7)
        return Image(size: size) { pixels in
            for index in 0..<size.pixelCount {
                let (x, y) = (index % size.width, index / size.width)
                for part in 0..<3 {
                    let soft = 128 + (part - 1) * (x - size.width / 2) + (2 - part) * (y - size.height / 2)
                    let level = (x + y < size.height ? soft / 2 : soft) + Int.random(in: -6...6, using: &random)
                    pixels[index * 4 + part] = UInt8(clamping: level)
                }
                pixels[index * 4 + 3] = 255
            }
        }
    }
}
#endif
