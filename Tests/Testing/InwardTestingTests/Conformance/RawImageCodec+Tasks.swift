import InwardImages

extension RawImageCodec {
    func decode(_ bytes: [UInt8], _ options: ImageDecodingOptions) async throws(ImageCodecError) -> Image {
        var options = options
        if flaw == .allowsTruncationInTasks { options.allowsTruncation = true }
        if flaw == .decodesPartiallyInCancelledTasks, Task.isCancelled {
            return Image(size: ImageSize(clamping: 40, 30))
        }
        let image = try image(from: bytes, options)
        guard flaw == .decodesReversedInTasks else { return image }
        return Image(size: image.size, bytes: image.bytes.reversed(), orientation: image.orientation) ?? image
    }

    func encode(_ image: Image, as encoding: ImageEncoding) async throws(ImageCodecError) -> [UInt8] {
        if flaw == .encodesPartiallyInCancelledTasks, Task.isCancelled { return [] }
        let bytes = try bytes(of: image, as: encoding)
        return flaw == .encodesReversedInTasks ? bytes.reversed() : bytes
    }
}
