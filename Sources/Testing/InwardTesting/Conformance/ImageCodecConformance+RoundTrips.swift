public import InwardImages

extension ImageCodecConformance {
    /// The orientation comes back, in the header and in the image.
    func orientationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        guard roundTrip.keepsOrientation else { return [] }
        return Orientation.allCases.flatMap { orientation in
            let image = Image.smooth(ImageSize(clamping: 19, 11)).oriented(orientation)
            return violations(of: codec, roundTrip, by: image)
        }
    }

    /// What is wrong with an image that is written and read.
    func violations(of codec: any ImageCodec, _ roundTrip: ImageRoundTrip, by image: Image) -> [String] {
        do throws(ImageCodecError) {
            let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
            return violations(
                of: codec,
                ImageSample(bytes, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
            )
        } catch {
            let isTooLong = image.size.longerSide > roundTrip.longestSide
            guard !isTooLong || error.reason != .unencodable(roundTrip.format) else { return [] }
            return ["An \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
    }

    /// What is wrong with an image that is read.
    func violations(of codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        let name = "An \(sample.image) in \(sample.format)"
        var violations: [String] = []
        do throws(ImageCodecError) {
            let header = try codec.header(of: sample.bytes)
            let image = try codec.image(from: sample.bytes, ImageDecodingOptions())
            if header.format != sample.format {
                violations.append("\(name) says in its header to be \(header.format).")
            }
            if header.size != sample.image.size {
                violations.append("\(name) says in its header to be \(header.size).")
            }
            if header.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must be turned as \(sample.image.orientation), and its header says \(header.orientation)."
                )
            }
            if image.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must be turned as \(sample.image.orientation), and came back as \(image.orientation)."
                )
            }
            if image.bytes.count > header.bytes(reducedBy: 1) {
                violations.append("\(name) takes more bytes than its header says.")
            }
            guard image.size == sample.image.size else {
                return violations + ["\(name) came back as an \(image)."]
            }
            let difference = image.largestDifference(from: sample.image)
            if difference > sample.tolerance {
                violations.append(
                    "\(name) must come back within \(sample.tolerance) steps, and is off by \(difference)."
                )
            }
        } catch {
            violations.append("\(name) must be read, and failed: \(error.reason).")
        }
        return violations
    }
}

extension ImageCodecConformance {
    /// The sides that are tried, each with some others: those around the blocks of usual formats.
    private static let sides = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17]
    /// The other sides.
    private static let otherSides = [1, 8, 17]
    /// Larger images: sides around what one byte and two bytes can say.
    private static let largeSizes = [(300, 5), (5, 300), (260, 258), (65_537, 1), (1, 65_537)]

    /// Images of many sizes come back as they were.
    func sizeViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        var random = SplitMix64(seed: seed)
        var sizes: Set<ImageSize> = []
        for side in Self.sides {
            for other in Self.otherSides {
                sizes.insert(ImageSize(clamping: side, other))
                sizes.insert(ImageSize(clamping: other, side))
            }
        }
        let sorted = sizes.sorted { ($0.width, $0.height) < ($1.width, $1.height) }
        var violations: [String] = []
        for (index, size) in sorted.enumerated() {
            var images: [Image] = []
            if index % 2 == 0 || !roundTrip.keepsAlpha { images.append(.smooth(size)) }
            if index % 2 == 1, roundTrip.keepsAlpha { images.append(.smooth(size, isClear: true)) }
            if roundTrip.tolerance == 0 {
                let noise = Image.noise(size, &random)
                images.append(roundTrip.keepsAlpha ? noise : noise.opaque)
            }
            for image in images { violations += self.violations(of: codec, roundTrip, by: image) }
        }
        return violations
    }

    /// Long and large images come back as they were. Where a side is too long for the format, they are refused.
    func largeSizeViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        Self.largeSizes.flatMap { width, height in
            violations(of: codec, roundTrip, by: .smooth(ImageSize(clamping: width, height)))
        }
    }
}

/// A format that a codec both writes and reads, and what must survive of an image.
///
///     let webP = ImageRoundTrip(ImageEncoding(.webP, quality: 95), tolerance: 12, longestSide: 16_383)
///
/// The parameters demand everything unless you say that the format cannot do it, except sides over 65,535: those may be refused
/// unless you demand longer ones.
public struct ImageRoundTrip: Hashable, Sendable {
    /// How images are written.
    public let encoding: ImageEncoding
    /// How far each part of a colour may be from what it was, in an image without edges; 0 if any image comes back exactly.
    public let tolerance: Int
    /// Whether alpha is kept.
    public let keepsAlpha: Bool
    /// Whether the format stores an orientation.
    public let keepsOrientation: Bool
    /// The longest side that must be written. A longer one may be refused as unencodable.
    public let longestSide: Int
    /// Whether the header can be read from the first half of the bytes.
    public let hasLeadingHeader: Bool
    /// Whether bytes that are cut short give the rows that they hold, where truncation is allowed.
    public let keepsTruncatedRows: Bool
    /// Whether the codec looks at its deadline between the steps of its work.
    public let isInterruptible: Bool

    /// Describes what a codec writes and reads.
    ///
    /// - Parameters:
    ///   - encoding: How images are written.
    ///   - tolerance: How far each part of a colour may be from what it was, from 0 to 255, in an image without edges. At 0 any
    ///     image has to come back exactly.
    ///   - keepsAlpha: Whether alpha is kept. For a lossy format, alpha below one half is not tried.
    ///   - keepsOrientation: Whether the format stores an orientation.
    ///   - longestSide: The longest side that must be written. A longer one may be refused as `unencodable`.
    ///   - hasLeadingHeader: Whether the header can be read from the first half of the bytes.
    ///   - keepsTruncatedRows: Whether bytes that are cut short give the rows that they hold, where truncation is allowed.
    ///   - isInterruptible: Whether the codec looks at its deadline between the steps of its work. Pass `false` for a library that
    ///     encodes or decodes in one piece.
    public init(
        _ encoding: ImageEncoding,
        tolerance: Int = 0,
        keepsAlpha: Bool = true,
        keepsOrientation: Bool = true,
        longestSide: Int = 65_535,
        hasLeadingHeader: Bool = true,
        keepsTruncatedRows: Bool = true,
        isInterruptible: Bool = true
    ) {
        self.encoding = encoding
        self.tolerance = min(max(0, tolerance), 255)
        self.keepsAlpha = keepsAlpha
        self.keepsOrientation = keepsOrientation
        self.longestSide = longestSide
        self.hasLeadingHeader = hasLeadingHeader
        self.keepsTruncatedRows = keepsTruncatedRows
        self.isInterruptible = isInterruptible
    }

    /// PNG, which is lossless and has sides of up to 2,147,483,647 pixels.
    public static let png = ImageRoundTrip(.png, longestSide: 2_147_483_647)

    /// JPEG of a high quality, which keeps no alpha, and colours within 12 steps of 255.
    public static let jpeg = ImageRoundTrip(.jpeg(quality: 95), tolerance: 12, keepsAlpha: false)

    /// The format.
    var format: ImageFormat { encoding.format }
}
