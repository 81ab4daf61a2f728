import InwardImages

/// A decoder for JPEG files. It reads a file segment by segment, and decodes its scans.
struct JPEGDecoder {
    /// The maximum number of scans, three times as many as the most thorough encoders produce. The limit is needed because a
    /// scan of a few bytes can make the decoder visit every block.
    private static let scanLimit = 100
    /// The memory for tables, rows and the like, in addition to samples and coefficients.
    private static let tableBytes = 2 * JPEGHuffmanTables.byteCount + 16_384

    private var markers = JPEGMarkerReader()
    private var application = JPEGApplicationData()
    private var tables = JPEGTables()
    private var frame: JPEGFrame?
    private var segments = 0
    private var scans = 0

    /// Returns the header of the image.
    mutating func header(in data: Span<UInt8>) throws(ImageCodecError) -> ImageHeader {
        try markers.start(in: data)
        while frame == nil { _ = try readSegment(data) }
        guard let frame else { throw .truncatedJPEG(at: data.count) }
        // Use the largest layout. Very small images need more samples if they are reduced.
        let samples = [1, 2, 4, 8].reduce(0) { max($0, JPEGLayout(frame, reduction: $1).sampleCount) }
        var bytes = samples + Self.tableBytes
        // If the first scan has all components, rows are decoded as they are read, and no coefficients are kept. Without a
        // scan, decoding fails, so this number does not matter.
        if frame.isProgressive || firstScanCount(data) != frame.components.count {
            bytes += JPEGCoefficients.byteCount(frame)
        }
        bytes += JPEGStrips(frame).workingBytes(sampleCount: samples)
        return ImageHeader(
            format: .jpeg,
            size: frame.size,
            orientation: application.orientation,
            reductions: [2, 4, 8],
            workingBytes: bytes
        )
    }

    /// Returns the number of components in the first scan, or `nil` if there is no scan.
    private func firstScanCount(_ data: Span<UInt8>) -> Int? {
        var markers = markers
        do throws(ImageCodecError) {
            while true {
                let marker = try markers.next(in: data)
                guard !JPEGMarker.isAlone(marker) else { continue }
                let segment = try markers.segment(in: data)
                if marker == JPEGMarker.startOfScan { return segment.isEmpty ? nil : Int(data[segment.lowerBound]) }
            }
        } catch {
            return nil
        }
    }

    /// Reads everything that precedes the pixels: the headers, and the scans unless there is only one.
    ///
    /// - Parameters:
    ///   - data: The bytes of the file.
    ///   - options: The decoding options.
    ///   - stripPixels: The number of pixels of a strip.
    /// - Returns: The image that remains to be made.
    /// - Throws: An error if the file is damaged or truncated, or if the task is cancelled.
    mutating func picture(
        in data: Span<UInt8>,
        _ options: ImageDecodingOptions,
        stripPixels: Int = JPEGStrips.pixelCount
    ) throws(ImageCodecError) -> JPEGPicture {
        let reduction = [2, 4, 8].contains(options.reduction) ? options.reduction : 1
        try markers.start(in: data)
        var coefficients: JPEGCoefficients?
        do throws(ImageCodecError) {
            while let marker = try readSegment(data), marker != JPEGMarker.endOfImage {
                guard marker == JPEGMarker.startOfScan else { continue }
                let (frame, scan) = try readScan(data)
                if coefficients == nil, !frame.isProgressive, scan.parts.count == frame.components.count {
                    let layout = JPEGLayout(frame, reduction: reduction)
                    let decoder = try JPEGSequentialDecoder(frame, layout, scan, tables, at: markers.position)
                    let content = JPEGPicture.Content.scan(decoder, allowsTruncation: options.allowsTruncation)
                    return picture(frame, layout, content, stripPixels)
                }
                if coefficients == nil { coefficients = JPEGCoefficients(frame) }
                if let end = try coefficients?.decode(scan, data, tables, at: markers.position) {
                    markers.position = end
                }
            }
        } catch {
            // Before the first scan, no part of the image is available.
            guard options.allowsTruncation, error.reason == .truncated(.jpeg), coefficients != nil else { throw error }
        }
        guard let frame else { throw .damagedJPEG("has no frame") }
        guard let coefficients else { throw .damagedJPEG("has no scan") }
        if !options.allowsTruncation, let component = coefficients.missingComponent {
            throw .damagedJPEG("has no scan of component \(frame.components[component].identifier)")
        }
        return picture(frame, JPEGLayout(frame, reduction: reduction), .coefficients(coefficients), stripPixels)
    }

    private func picture(
        _ frame: JPEGFrame,
        _ layout: JPEGLayout,
        _ content: JPEGPicture.Content,
        _ stripPixels: Int
    ) -> JPEGPicture {
        let strips = JPEGStrips(frame, pixelCount: stripPixels)
        return JPEGPicture(
            frame,
            layout,
            JPEGColorModel(frame, application),
            application.orientation,
            content,
            strips
        )
    }

    /// Reads the next marker and its segment: a frame, tables, or application data. Only the marker is read if it starts a
    /// scan.
    ///
    /// - Returns: The marker.
    private mutating func readSegment(_ data: Span<UInt8>) throws(ImageCodecError) -> UInt8? {
        // A file can contain millions of segments.
        if segments % 64 == 0 { try ImageCodecError.checkCancellation() }
        segments += 1
        let marker = try markers.next(in: data)
        guard !JPEGMarker.isAlone(marker), marker != JPEGMarker.startOfScan else { return marker }
        guard marker != JPEGMarker.endOfImage else {
            guard frame != nil else { throw .truncatedJPEG(at: markers.position) }
            return marker
        }
        let start = markers.position
        let segment = try markers.segment(in: data)
        if JPEGMarker.beginsFrame(marker) {
            guard frame == nil else { throw .damagedJPEG("has two frames, the second at byte \(start)") }
            frame = try JPEGFrame(marker, data, segment)
        } else {
            switch marker {
            case JPEGMarker.arithmeticConditioning:
                throw .unsupportedJPEG("uses arithmetic coding, which JPEGCodec does not support")
            case JPEGMarker.hierarchicalProgression:
                throw .unsupportedJPEG("is hierarchical, which JPEGCodec does not support")
            case JPEGMarker.numberOfLines: throw .unsupportedJPEG("has a DNL segment, which JPEGCodec does not support")
            default: break
            }
            try tables.read(marker, data, segment)
            // The header ignores Exif data after the frame, and the image must match the header.
            if frame == nil || marker != JPEGMarker.exif { application.read(marker, data, segment) }
        }
        return marker
    }

    private mutating func readScan(_ data: Span<UInt8>) throws(ImageCodecError) -> (JPEGFrame, JPEGScan) {
        let start = markers.position
        let segment = try markers.segment(in: data)
        guard let frame else { throw .damagedJPEG("has a scan before its frame, at byte \(start)") }
        scans += 1
        guard scans <= Self.scanLimit else {
            throw .unsupportedJPEG("has more than the \(Self.scanLimit) scans allowed")
        }
        if scans == 1 {
            // The file has less than one bit per block, so it cannot contain the image that would need this memory.
            guard data.count - start >= frame.blocks / 8 else { throw .truncatedJPEG(at: data.count) }
        }
        try tables.prepare(data)
        return (frame, try JPEGScan(data, segment, number: scans, frame, tables))
    }
}

/// The application segments of a file.
struct JPEGApplicationData {
    private static let jfifName = Array("JFIF\0".utf8)
    private static let exifName = Array("Exif\0".utf8)
    private static let adobeName = Array("Adobe".utf8)

    /// Whether the file follows JFIF (ITU-T T.871), which allows gray and YCbCr.
    private(set) var isJFIF = false
    /// Adobe's color transform (0 for none, 1 for YCbCr, 2 for YCCK), or `nil` if it is not specified.
    private(set) var adobeTransform: UInt8?
    /// The orientation of the image.
    private(set) var orientation = Orientation.up
    private var hasExif = false

    /// Reads a segment. Unknown segments are ignored.
    mutating func read(_ marker: UInt8, _ data: Span<UInt8>, _ segment: Range<Int>) {
        let content = data.extracting(segment)
        switch marker {
        case JPEGMarker.jfif where content.starts(with: Self.jfifName):
            isJFIF = true
        case JPEGMarker.adobe where content.count >= 12 && content.starts(with: Self.adobeName):
            adobeTransform = content[11]
        case JPEGMarker.exif where !hasExif && content.starts(with: Self.exifName):
            guard content.count > 6 else { return }
            hasExif = true
            orientation = Orientation(exif: content.extracting(6...)) ?? .up
        default: break
        }
    }
}

extension Span<UInt8> {
    fileprivate func starts(with name: [UInt8]) -> Bool {
        count >= name.count && name.indices.allSatisfy { self[$0] == name[$0] }
    }
}
