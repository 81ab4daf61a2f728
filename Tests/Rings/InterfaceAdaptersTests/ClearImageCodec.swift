import InwardImages

/// A codec that decodes all bytes as a transparent image of a fixed size, by default one pixel.
struct ClearImageCodec: ImageCodec {
    var size = ImageSize(clamping: 1, 1)

    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader { ImageHeader(format: .png, size: size) }

    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        Image(size: size)
    }

    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] { [7, 8] }
}
