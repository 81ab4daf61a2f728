import InwardImageCodecs
import InwardImages

/// A picture for a user of the sample: rings of a colour of their own.
struct SampleAvatar {
    private static let side = 128

    let number: Int

    /// The picture, encoded as JPEG.
    var bytes: [UInt8]? {
        try? SwiftImageCodec().bytes(of: image, as: .jpeg(quality: 85))
    }

    private var image: Image {
        let center = Self.side / 2
        return Image(size: ImageSize(clamping: Self.side, Self.side)) { pixels in
            for y in 0..<Self.side {
                for x in 0..<Self.side {
                    let distance = (x - center) * (x - center) + (y - center) * (y - center)
                    let level = UInt8(distance * (number + 4) / (5 * Self.side) % 128 + 96)
                    let index = (y * Self.side + x) * Image.bytesPerPixel
                    for part in 0..<3 { pixels[index + part] = (number >> part) & 1 == 1 ? level : level / 2 }
                    pixels[index + 3] = 255
                }
            }
        }
    }
}
