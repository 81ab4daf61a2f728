import InwardImageCodecs
import InwardImages
import InwardTesting

/// Generated images of many sizes, from a seed. The last one is damaged.
struct MadeImages: ImageSource {
    let addresses: [ImageAddress]
    private let encoded: [ImageAddress: EncodedImage]

    init(_ random: inout SplitMix64) throws(ImageCodecError) {
        var encoded: [ImageAddress: EncodedImage] = [:]
        for number in 0..<24 {
            let size = ImageSize(
                clamping: .random(in: 50...2_500, using: &random),
                .random(in: 50...2_500, using: &random)
            )
            let encoding: ImageEncoding = number.isMultiple(of: 2) ? .jpeg(quality: 80) : .png
            encoded[ImageAddress("\(number)")] = EncodedImage(
                try SwiftImageCodec().bytes(of: Self.image(size), as: encoding)
            )
        }
        encoded["23"]?.bytes.removeLast(1_000)
        self.encoded = encoded
        addresses = encoded.keys.sorted { $0.rawValue < $1.rawValue }
    }

    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
        guard let encoded = encoded[address] else {
            throw ImageError(.notFound, of: address, explanation: "was not made")
        }
        return encoded
    }

    /// Returns stripes of varying colors.
    private static func image(_ size: ImageSize) -> Image {
        var bytes: [UInt8] = []
        for index in 0..<size.pixelCount {
            bytes += [UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 3 ^ index >> 9), 90, 255]
        }
        return Image(size: size, bytes: bytes) ?? Image(size: size, color: .black)
    }
}
