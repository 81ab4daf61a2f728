import InwardImages

/// Walks through a JPEG file, segment by segment, and has its scans decoded.
struct JPEGDecoder {
    /// How many scans an image may have: three times as many as encoders make of the most patient sort, for each takes as long
    /// as all blocks together even if it says nothing of them in a few bytes.
    private static let scanLimit = 100
    /// What tables, rows and the like take beside samples and coefficients.
    private static let tableBytes = 2 * JPEGHuffmanTables.byteCount + 16_384

    private var markers = JPEGMarkerReader()
    private var application = JPEGApplicationData()
    private var tables = JPEGTables()
    private var frame: JPEGFrame?
    private var segments = 0
    private var scans = 0

    /// What the file says of its image.
    mutating func header(in data: Span<UInt8>) throws(ImageCodecError) -> ImageHeader {
        try markers.start(in: data)
        while frame == nil { _ = try readSegment(data) }
        guard let frame else { throw .truncatedJPEG(at: data.count) }
        // What is very small has more samples at once where it is reduced.
        let samples = [1, 2, 4, 8].reduce(0) { max($0, JPEGLayout(frame, reduction: $1).sampleCount) }
        var bytes = samples + Self.tableBytes
        // Whether the rows can be made as they are read shows at the first scan; if there is none, nothing will be read.
        if frame.isProgressive || firstScanCount(data) != frame.components.count {
            bytes += JPEGCoefficients.byteCount(frame)
        }
        return ImageHeader(
            format: .jpeg,
            size: frame.size,
            orientation: application.orientation,
            reductions: [2, 4, 8],
            workingBytes: bytes
        )
    }

    /// How many components the first scan has; `nil` if there is none.
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

    /// The image in the file.
    mutating func image(in data: Span<UInt8>, _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        let reduction = [2, 4, 8].contains(options.reduction) ? options.reduction : 1
        try markers.start(in: data)
        var coefficients: JPEGCoefficients?
        do throws(ImageCodecError) {
            while let marker = try readSegment(data), marker != JPEGMarker.endOfImage {
                guard marker == JPEGMarker.startOfScan else { continue }
                let (frame, scan) = try readScan(data)
                if coefficients == nil, !frame.isProgressive, scan.parts.count == frame.components.count {
                    return try image(of: frame, scan, data, reduction, options.allowsTruncation)
                }
                if coefficients == nil { coefficients = JPEGCoefficients(frame) }
                if let end = try coefficients?.decode(scan, data, tables, at: markers.position) {
                    markers.position = end
                }
            }
        } catch {
            // Where no scan was begun, there is nothing of the image.
            guard options.allowsTruncation, error.reason == .truncated(.jpeg), coefficients != nil else { throw error }
        }
        guard let frame else { throw .damagedJPEG("has no frame") }
        guard let coefficients else { throw .damagedJPEG("has no scan") }
        if !options.allowsTruncation, let component = coefficients.missingComponent {
            throw .damagedJPEG("has no scan of component \(frame.components[component].identifier)")
        }
        return try image(of: frame, coefficients, reduction)
    }

    /// Reads what follows, unless the task was cancelled: a marker, and its segment if it is no scan; of frames, tables, and what is known of applications.
    ///
    /// - Returns: the marker.
    private mutating func readSegment(_ data: Span<UInt8>) throws(ImageCodecError) -> UInt8? {
        // There may be millions of them.
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
                throw .unsupportedJPEG("has arithmetic codes, which are not read here")
            case JPEGMarker.hierarchicalProgression: throw .unsupportedJPEG("is hierarchical, which is not read here")
            case JPEGMarker.numberOfLines: throw .unsupportedJPEG("says again how many rows it has (DNL)")
            default: break
            }
            try tables.read(marker, data, segment)
            // What stands behind the frame the header does not tell of, and the image is as the header tells.
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
            throw .unsupportedJPEG("has more than \(Self.scanLimit) scans, which is more than are read here")
        }
        if scans == 1 {
            // Not even one bit for each block: nobody is to set an image's memory aside for that.
            guard data.count - start >= frame.blocks / 8 else { throw .truncatedJPEG(at: data.count) }
        }
        try tables.prepare(data)
        return (frame, try JPEGScan(data, segment, number: scans, frame, tables))
    }

    private func image(
        of frame: JPEGFrame,
        _ scan: JPEGScan,
        _ data: Span<UInt8>,
        _ reduction: Int,
        _ allowsTruncation: Bool
    ) throws(ImageCodecError) -> Image {
        let layout = JPEGLayout(frame, reduction: reduction)
        let decoder = try JPEGSequentialDecoder(frame, layout, scan, tables, at: markers.position)
        let model = JPEGColorModel(frame, application)
        return try Image(size: layout.size, orientation: application.orientation) { pixels throws(ImageCodecError) in
            let end = try decoder.decode(data, allowsTruncation: allowsTruncation, model, to: &pixels)
            if !allowsTruncation { try JPEGMarkerReader(position: end).passToEnd(of: data) }
        }
    }

    private func image(
        of frame: JPEGFrame,
        _ coefficients: consuming JPEGCoefficients,
        _ reduction: Int
    ) throws(ImageCodecError) -> Image {
        let layout = JPEGLayout(frame, reduction: reduction)
        let model = JPEGColorModel(frame, application)
        return try Image(size: layout.size, orientation: application.orientation) { pixels throws(ImageCodecError) in
            try coefficients.write(layout, model, to: &pixels)
        }
    }
}

/// What the application segments of a file say of its image.
struct JPEGApplicationData {
    private static let jfifName = Array("JFIF\0".utf8)
    private static let exifName = Array("Exif\0".utf8)
    private static let adobeName = Array("Adobe".utf8)

    /// Whether it follows JFIF (ITU-T T.871), which knows grey and YCbCr.
    private(set) var isJFIF = false
    /// How Adobe says that the colours were transformed: 0 for not at all, 1 for YCbCr, 2 for YCCK; `nil` if it says nothing.
    private(set) var adobeTransform: UInt8?
    /// How the image is to be turned.
    private(set) var orientation = Orientation.up
    private var hasExif = false

    /// Takes in a segment; one that is nothing of what is known here says nothing.
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
