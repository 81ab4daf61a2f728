import Entities
import UseCases

/// A codec of a form that is made for tests: a signature, the orientation, the sides in two bytes each, and the pixels.
struct RawImageCodec: ImageCodec {
    /// What it does wrong, if a test asks for it.
    enum Flaw: CaseIterable {
        case losesAlpha
        case shiftsRows
        case losesOrientation
        case forgetsOrientationInHeader
        case namesAnotherFormat
        case saysAnotherSize
        case reducesDownwards
        case reducesByTheFirstPixels
        case reducesAsAsked
        case takesWhatIsCutShort
        case saysWhatIsCutShortIsUnrecognized
        case givesWhatThereIsInAnotherSize
        case blamesTheTask
        case readsAnything
        case writesAnything
        case saysNothingIsUnsupported
        case ignoresCancellationWhenReading
        case ignoresCancellationWhenWriting
        case failsAsDamagedWhenCancelled
        case ignoresDeadlineWhenReading
        case ignoresDeadlineWhenWriting
        case failsAsCancelledAfterDeadline
    }

    /// The form.
    static let format = ImageFormat(name: "RAW", mediaType: "image/x-raw")
    private static let signature = Array("RAWP".utf8)
    private static let headLength = 9

    var flaw: Flaw?

    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        guard bytes.starts(with: Self.signature) || flaw == .readsAnything else {
            throw ImageCodecError(flaw == .blamesTheTask ? .cancelled : .unrecognized, "is not raw")
        }
        guard bytes.count >= Self.headLength else { throw truncated }
        let width = Int(bytes[5]) << 8 | Int(bytes[6])
        let height = Int(bytes[7]) << 8 | Int(bytes[8])
        let orientation = Orientation(rawValue: Int(bytes[4]))
        guard let size = ImageSize(width: width + (flaw == .saysAnotherSize ? 1 : 0), height: height), let orientation
        else {
            throw ImageCodecError(.damaged(Self.format), "has no size")
        }
        return ImageHeader(
            format: flaw == .namesAnotherFormat ? .png : Self.format,
            size: size,
            orientation: flaw == .forgetsOrientationInHeader ? .up : orientation,
            reductions: [2]
        )
    }

    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        let header = try header(of: bytes)
        if Task.isCancelled, flaw != .ignoresCancellationWhenReading {
            throw flaw == .failsAsDamagedWhenCancelled ? ImageCodecError(.damaged(Self.format), "") : .cancelled
        }
        if Deadline.current?.hasPassed == true, flaw != .ignoresDeadlineWhenReading {
            throw flaw == .failsAsCancelledAfterDeadline ? .cancelled : .timedOut
        }
        var pixels = Array(bytes.dropFirst(Self.headLength).prefix(header.size.byteCount))
        var size = header.size
        if pixels.count < size.byteCount {
            guard options.allowsTruncation || flaw == .takesWhatIsCutShort else { throw truncated }
            if flaw == .givesWhatThereIsInAnotherSize { size = ImageSize(clamping: size.width, 1) }
            pixels += [UInt8](repeating: 0, count: max(0, size.byteCount - pixels.count))
            pixels.removeLast(pixels.count - size.byteCount)
        }
        guard let image = Image(size: size, bytes: pixels, orientation: header.orientation) else { throw truncated }
        let isReduced = options.reduction == 2 || flaw == .reducesAsAsked && options.reduction == 3
        return isReduced ? reduced(image, by: options.reduction) : image
    }

    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        guard encoding.format == Self.format || flaw == .writesAnything else {
            let reason: ImageCodecError.Reason =
                flaw == .saysNothingIsUnsupported ? .unencodable(encoding.format) : .unsupported(encoding.format)
            throw ImageCodecError(reason, "is not written")
        }
        if Task.isCancelled, flaw != .ignoresCancellationWhenWriting { throw .cancelled }
        if Deadline.current?.hasPassed == true, flaw != .ignoresDeadlineWhenWriting { throw .timedOut }
        var pixels = image.bytes
        if flaw == .losesAlpha { for index in stride(from: 3, to: pixels.count, by: 4) { pixels[index] = 255 } }
        if flaw == .shiftsRows { pixels = Array(pixels.dropFirst(4)) + pixels.prefix(4) }
        let orientation = flaw == .losesOrientation ? .up : image.orientation
        let (width, height) = (image.size.width, image.size.height)
        return Self.signature + [
            UInt8(orientation.rawValue), UInt8(width >> 8 & 255), UInt8(width & 255), UInt8(height >> 8 & 255),
            UInt8(height & 255),
        ] + pixels
    }

    private var truncated: ImageCodecError {
        ImageCodecError(
            flaw == .saysWhatIsCutShortIsUnrecognized ? .unrecognized : .truncated(Self.format),
            "ends too early"
        )
    }

    private func reduced(_ image: Image, by divisor: Int) -> Image {
        let size =
            flaw == .reducesDownwards
            ? ImageSize(clamping: image.size.width / divisor, image.size.height / divisor)
            : image.size.divided(by: divisor)
        return Image(size: size, orientation: image.orientation) { pixels in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (column, row) = flaw == .reducesByTheFirstPixels ? (x, y) : (x * divisor, y * divisor)
                    let color = image[column, row]
                    let index = (y * size.width + x) * Image.bytesPerPixel
                    pixels[index] = color.red
                    pixels[index + 1] = color.green
                    pixels[index + 2] = color.blue
                    pixels[index + 3] = color.alpha
                }
            }
        }
    }
}
