import InwardCore
import InwardImages

/// A codec for a test format: a signature, the orientation, the sides in two bytes each, and the pixels.
struct RawImageCodec: ImageCodec {
    /// The format.
    static let format = ImageFormat(name: "RAW", mediaType: "image/x-raw")
    private static let signature = Array("RAWP".utf8)
    private static let headLength = 9
    private static let rowsBetweenChecks = 8

    let flaw: Flaw?
    private let memory = RawImageMemory()

    init(flaw: Flaw? = nil) {
        self.flaw = flaw
    }

    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        guard flaw == .remembersHeadersByLength else { return try parsedHeader(of: bytes) }
        return try memory.header(of: bytes.count) { () throws(ImageCodecError) in try parsedHeader(of: bytes) }
    }

    private func parsedHeader(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        guard bytes.starts(with: Self.signature) || flaw == .readsAnything else {
            throw ImageCodecError(flaw == .reportsCancellationForBadBytes ? .cancelled : .unrecognized, "is not raw")
        }
        guard bytes.count >= Self.headLength else { throw truncated }
        let width = Int(bytes[5]) << 8 | Int(bytes[6])
        let height = Int(bytes[7]) << 8 | Int(bytes[8])
        let orientation = Orientation(rawValue: Int(bytes[4]))
        guard let size = ImageSize(width: width + (flaw == .reportsAnotherSize ? 1 : 0), height: height),
            let orientation
        else {
            throw ImageCodecError(.damaged(Self.format), "has no size")
        }
        let isPart = bytes.count < Self.headLength + size.byteCount
        if isPart, flaw == .needsAllBytesForHeader { throw truncated }
        let forgetsOrientation = flaw == .forgetsOrientationInHeader || isPart && flaw == .forgetsOrientationOfPart
        return ImageHeader(
            format: flaw == .reportsAnotherFormat ? .png : Self.format,
            size: size,
            orientation: forgetsOrientation ? .up : orientation,
            reductions: [2]
        )
    }

    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        guard flaw == .remembersImagesByLength, options == ImageDecodingOptions() else {
            return try decodedImage(from: bytes, options)
        }
        return try memory.image(of: bytes.count) { () throws(ImageCodecError) in
            try decodedImage(from: bytes, options)
        }
    }

    private func decodedImage(
        from bytes: [UInt8],
        _ options: ImageDecodingOptions
    ) throws(ImageCodecError) -> Image {
        let header = try header(of: bytes)
        memory.header = header
        guard memory.begin() || flaw != .failsDuringAnotherCall else {
            throw ImageCodecError(.damaged(Self.format), "is read while another is")
        }
        defer { memory.end() }
        let isReduced =
            (options.reduction == 2 || flaw == .makesUnofferedReductions && options.reduction == 3)
            && flaw != .offersReductionsAndIgnoresThem
        let data =
            flaw == .readsFromTheEnd
            ? bytes.dropFirst(Self.headLength).suffix(header.size.byteCount)
            : bytes.dropFirst(Self.headLength).prefix(header.size.byteCount)
        var pixels = try copy(Array(data), header.size, isReduced ? .reducing : .reading)
        var size = header.size
        var orientation = header.orientation
        if pixels.count < size.byteCount {
            let isAllowed =
                options.allowsTruncation && flaw != .ignoresAllowedTruncation
                && !(isReduced && flaw == .ignoresAllowedTruncationWhenReducing)
            let isTaken =
                flaw == .decodesTruncatedBytes || isReduced && flaw == .decodesTruncatedBytesWhenReducing
            guard isAllowed || isTaken else { throw truncated }
            let isOfAnotherSize =
                flaw == .decodesTruncatedBytesInAnotherSize
                || isReduced && flaw == .decodesTruncatedBytesInAnotherSizeWhenReducing
            if isOfAnotherSize { size = ImageSize(clamping: size.width, 1) }
            if flaw == .clearsTruncatedImages { pixels = [] }
            if flaw == .turnsTruncatedImages { orientation = .down }
            pixels += [UInt8](repeating: 0, count: max(0, size.byteCount - pixels.count))
            pixels.removeLast(pixels.count - size.byteCount)
        }
        if flaw == .sharesPixelsInSlowCalls, size.width == 12 || size.height == 12 {
            pixels = memory.exchange(pixels, of: size)
        }
        if flaw == .sharesTheHeader { size = memory.header?.size ?? size }
        guard let image = Image(size: size, bytes: pixels, orientation: orientation) else { throw truncated }
        return isReduced ? reduced(image, by: options.reduction) : image
    }

    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        guard encoding.format == Self.format || flaw == .writesAnything else {
            let reason: ImageCodecError.Reason =
                flaw == .reportsUnsupportedAsUnencodable ? .unencodable(encoding.format) : .unsupported(encoding.format)
            throw ImageCodecError(reason, "is not written")
        }
        let (width, height) = (image.size.width, image.size.height)
        guard image.size.longerSide <= UInt16.max || flaw == .wrapsLongSides else {
            let reason: ImageCodecError.Reason =
                flaw == .reportsLongSidesAsDamaged ? .damaged(Self.format) : .unencodable(Self.format)
            throw ImageCodecError(reason, "has too long a side")
        }
        var pixels = try copy(changed(image.bytes, image.size), image.size, .writing)
        if flaw == .writesTheLastImageAgain { pixels = memory.lastWritten(image.size, pixels) }
        let orientation = flaw == .losesOrientation ? .up : image.orientation
        return Self.signature + [
            UInt8(orientation.rawValue), UInt8(width >> 8 & 255), UInt8(width & 255), UInt8(height >> 8 & 255),
            UInt8(height & 255),
        ] + pixels
    }

    /// Returns a copy of the pixels. It copies a few rows at a time, and checks for interruptions in between.
    private func copy(
        _ source: [UInt8],
        _ size: ImageSize,
        _ activity: Activity
    ) throws(ImageCodecError) -> [UInt8] {
        let isShared =
            activity == .reading && flaw == .sharesPixelsWhenReading
            || activity == .writing && flaw == .sharesPixelsWhenWriting
        if isShared { memory.pixels = [] }
        var pixels: [UInt8] = []
        let step = Self.rowsBetweenChecks * size.width * Image.bytesPerPixel
        for start in stride(from: 0, to: max(1, source.count), by: step) {
            guard try continues(activity, isFirst: start == 0) else {
                return pixels + [UInt8](repeating: 0, count: source.count - pixels.count)
            }
            let rows = source[start..<min(source.count, start + step)]
            if isShared { memory.pixels += rows } else { pixels += rows }
        }
        return isShared ? memory.pixels : pixels
    }

    /// Returns whether to continue. If the call is interrupted, throws, or with some flaws returns `false`.
    private func continues(_ activity: Activity, isFirst: Bool) throws(ImageCodecError) -> Bool {
        if isFirst || flaw != .checksForCancellationOnlyAtTheStart, Task.isCancelled, !ignoresCancellation(activity) {
            if !isFirst, returnsPartWhenCancelled(activity) { return false }
            throw flaw == .failsAsDamagedWhenCancelled ? ImageCodecError(.damaged(Self.format), "") : .cancelled
        }
        if isFirst || flaw != .checksTheDeadlineOnlyAtTheStart, !ignoresDeadline(activity),
            Deadline.current?.hasPassed == true
        {
            if !isFirst, returnsPartAfterDeadline(activity) { return false }
            throw flaw == .failsAsCancelledAfterDeadline ? .cancelled : .timedOut
        }
        return true
    }

    private var truncated: ImageCodecError {
        ImageCodecError(
            flaw == .reportsTruncatedBytesAsUnrecognized ? .unrecognized : .truncated(Self.format),
            "ends too early"
        )
    }
}
