public import InwardImages

extension ImageCodecConformance {
    /// The orientation survives, in the header and in the image.
    func orientationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        guard roundTrip.keepsOrientation else { return [] }
        return Orientation.allCases.flatMap { orientation in
            let image = Image.smooth(ImageSize(clamping: 19, 11)).oriented(orientation)
            return violations(of: codec, roundTrip, by: image)
        }
    }

    /// Returns what is wrong with an image that is encoded and decoded.
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
            return ["An \(image) must be encodable as \(roundTrip.format), but failed: \(error.reason)."]
        }
    }

    /// Returns what is wrong with an image that is decoded.
    func violations(of codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        let name = "An \(sample.image) in \(sample.format)"
        var violations: [String] = []
        do throws(ImageCodecError) {
            let header = try codec.header(of: sample.bytes)
            let image = try codec.image(from: sample.bytes, ImageDecodingOptions())
            if header.format != sample.format {
                violations.append("\(name) has a header that says \(header.format).")
            }
            if header.size != sample.image.size {
                violations.append("\(name) has a header that says \(header.size).")
            }
            if header.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must have the orientation \(sample.image.orientation), but its header says \(header.orientation)."
                )
            }
            if image.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must have the orientation \(sample.image.orientation), but was decoded with \(image.orientation)."
                )
            }
            if image.bytes.count > header.bytes(reducedBy: 1) {
                violations.append("\(name) takes more bytes than its header says.")
            }
            guard image.size == sample.image.size else {
                return violations + ["\(name) was decoded as an \(image)."]
            }
            let difference = image.largestDifference(from: sample.image)
            if difference > sample.tolerance {
                violations.append(
                    "\(name) must match the original within \(sample.tolerance) steps, but is off by \(difference)."
                )
            }
        } catch {
            violations.append("\(name) must be decodable, but failed: \(error.reason).")
        }
        return violations
    }
}

extension ImageCodecConformance {
    /// The side lengths to try, each with some of the other side lengths. They are chosen around the block sizes of the usual
    /// formats.
    private static let sides = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17]
    /// The other side lengths.
    private static let otherSides = [1, 8, 17]
    /// Larger images, with sides around the limits of one byte and of two bytes.
    private static let largeSizes = [(300, 5), (5, 300), (260, 258), (65_537, 1), (1, 65_537)]

    /// Images of many sizes survive encoding and decoding.
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

    /// Long and large images survive encoding and decoding, or are refused if a side is too long for the format.
    func largeSizeViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        Self.largeSizes.flatMap { width, height in
            violations(of: codec, roundTrip, by: .smooth(ImageSize(clamping: width, height)))
        }
    }
}

/// A format that a codec both encodes and decodes, and what it must preserve.
///
/// ```swift
/// let webP = ImageRoundTrip(ImageEncoding(.webP, quality: 95), tolerance: 12, longestSide: 16_383)
/// ```
///
/// By default, the format must preserve everything, for sides of up to 65,535 pixels. Pass parameters for what it cannot
/// preserve, or to demand longer sides.
public struct ImageRoundTrip: Hashable, Sendable {
    /// The encoding.
    public let encoding: ImageEncoding
    /// The allowed difference of each color component in an image without edges. At 0, every image must be preserved exactly.
    public let tolerance: Int
    /// Whether the format preserves alpha.
    public let keepsAlpha: Bool
    /// Whether the format stores the orientation.
    public let keepsOrientation: Bool
    /// The longest side that must be encodable. Longer sides may be refused as unencodable.
    public let longestSide: Int
    /// Whether the header can be read from the first half of the bytes.
    public let hasLeadingHeader: Bool
    /// Whether decoding truncated bytes returns the rows that they contain, if truncation is allowed.
    public let keepsTruncatedRows: Bool
    /// Whether the codec checks its deadline between the steps of its work.
    public let isInterruptible: Bool

    /// Creates a description of a format that a codec encodes and decodes.
    ///
    /// - Parameters:
    ///   - encoding: The encoding.
    ///   - tolerance: The allowed difference of each color component, from 0 to 255, in an image without edges. At 0, every
    ///     image must be preserved exactly.
    ///   - keepsAlpha: Whether the format preserves alpha. For a lossy format, the check does not use alpha below one half.
    ///   - keepsOrientation: Whether the format stores the orientation.
    ///   - longestSide: The longest side that must be encodable. Longer sides may be refused as `unencodable`.
    ///   - hasLeadingHeader: Whether the header can be read from the first half of the bytes.
    ///   - keepsTruncatedRows: Whether decoding truncated bytes returns the rows that they contain, if truncation is allowed.
    ///   - isInterruptible: Whether the codec checks its deadline between the steps of its work. Pass `false` for a library
    ///     that encodes or decodes in a single call.
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

    /// PNG, which is lossless and supports sides of up to 2,147,483,647 pixels.
    public static let png = ImageRoundTrip(.png, longestSide: 2_147_483_647)

    /// High-quality JPEG, which drops alpha and preserves colors within 12 of 255 steps.
    public static let jpeg = ImageRoundTrip(.jpeg(quality: 95), tolerance: 12, keepsAlpha: false)

    /// The format.
    var format: ImageFormat { encoding.format }
}
