import InwardImages

extension ImageCodecConformance {
    /// The allowed difference for an image of waves, in addition to the format's loss for a smooth image.
    private static let waveTolerance = 24

    /// The first bytes of an image provide its header and, if truncation is allowed, its first rows.
    func partViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        let size = ImageSize(clamping: 48, 160)
        var random = SplitMix64(seed: seed)
        // All rows take about the same number of bytes, so the first bytes correspond to the top of the image.
        var image = roundTrip.tolerance == 0 ? Image.noise(size, &random) : .waves(size)
        if !roundTrip.keepsAlpha { image = image.opaque }
        if roundTrip.keepsOrientation { image.orientation = .right }
        do throws(ImageCodecError) {
            let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
            let sample = ImageSample(
                bytes,
                format: roundTrip.format,
                image: image,
                tolerance: roundTrip.tolerance,
                hasLeadingHeader: roundTrip.hasLeadingHeader,
                keepsTruncatedRows: roundTrip.keepsTruncatedRows
            )
            return partViolations(codec, sample)
        } catch {
            return ["An \(image) must be encodable as \(roundTrip.format), but failed: \(error.reason)."]
        }
    }

    /// The same for an image that is only decoded.
    func partViolations(_ codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        // Reduced images are often decoded by different code.
        let reductions = Set([1, largestReduction(of: sample.bytes, by: codec)]).sorted()
        return headerViolations(codec, sample) + reductions.flatMap { rowViolations(codec, sample, reducedBy: $0) }
    }

    private func headerViolations(_ codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        guard sample.hasLeadingHeader else { return [] }
        let bytes = sample.bytes
        let name =
            "The header of an \(sample.image) in \(sample.format) must be readable from the first half of the bytes"
        do throws(ImageCodecError) {
            let header = try codec.header(of: Array(bytes.prefix(bytes.count / 2)))
            let whole = try codec.header(of: bytes)
            let isSame =
                (header.format, header.size, header.orientation) == (whole.format, whole.size, whole.orientation)
                && header.reductions == whole.reductions
            return isSame ? [] : ["\(name), but differs."]
        } catch {
            return ["\(name), but failed: \(error.reason)."]
        }
    }

    private func rowViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        reducedBy reduction: Int
    ) -> [String] {
        guard sample.keepsTruncatedRows else { return [] }
        let image = sample.image
        let bytes = sample.bytes
        let whole = "Three quarters of the bytes of an \(image) in \(sample.format)"
        let name = reduction == 1 ? whole : "\(whole), reduced by \(reduction),"
        do throws(ImageCodecError) {
            let part = try codec.image(
                from: Array(bytes.prefix(bytes.count / 4 * 3)),
                ImageDecodingOptions(reduction: reduction, allowsTruncation: true)
            )
            guard part.size == image.size.divided(by: reduction), part.orientation == image.orientation else {
                return ["\(name) must decode with the right size and orientation, but do not."]
            }
            // Only an image that is not reduced has rows to compare with.
            guard reduction == 1 else { return [] }
            // Headers take bytes too, and the last rows may be incomplete.
            let difference = part.largestDifference(from: image, rows: image.size.height / 3)
            guard difference > sample.tolerance + Self.waveTolerance * min(1, sample.tolerance) else { return [] }
            return ["\(name) must provide the first rows, but these are off by \(difference)."]
        } catch {
            return ["\(name) must be decodable where truncation is allowed, but failed: \(error.reason)."]
        }
    }

    /// Bytes after the end of an image are ignored, or the image is refused.
    func trailingViolations(_ codec: any ImageCodec, _ specimen: ImageSample) -> [String] {
        var random = SplitMix64(seed: seed)
        let trailing = random.bytes(64)
        let name = "\(specimen.format) followed by other bytes"
        // Other checks find what is wrong with the bytes themselves.
        guard let header = try? codec.header(of: specimen.bytes),
            let image = try? codec.image(from: specimen.bytes, ImageDecodingOptions())
        else { return [] }
        do throws(ImageCodecError) {
            let otherHeader = try codec.header(of: specimen.bytes + trailing)
            let otherImage = try codec.image(from: specimen.bytes + trailing, ImageDecodingOptions())
            guard otherHeader != header || otherImage != image else { return [] }
            return ["\(name) must decode to the same image or fail, but decodes to another image."]
        } catch {
            return reasonViolations(error, name)
        }
    }
}

extension ImageCodecConformance {
    /// The allowed difference of a reduced smooth image from the mean of its pixels, in addition to the format's loss.
    static let reductionTolerance = 16
    /// The same for an image of regions, which may mix colors at the edges: less than half of the distance between the colors.
    private static let edgeTolerance = 60

    /// An image can be reduced as its header offers, and loses only resolution. Other reductions are ignored.
    func reductionViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        let regions = Image.regions(ImageSize(clamping: 160, 128))
        var images = [(regions, Self.edgeTolerance)]
        for (width, height) in [(67, 45), (129, 8), (5, 3)] {
            images.append((Image.smooth(ImageSize(clamping: width, height)), Self.reductionTolerance))
        }
        if roundTrip.keepsAlpha {
            images.append((Image.smooth(ImageSize(clamping: 64, 48), isClear: true), Self.reductionTolerance))
        }
        if roundTrip.keepsOrientation {
            images.append((Image.smooth(ImageSize(clamping: 64, 40)).oriented(.right), Self.reductionTolerance))
        }
        return images.flatMap { image, tolerance in
            do throws(ImageCodecError) {
                let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
                let sample = ImageSample(bytes, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
                // Large images take time and reveal nothing more about reductions that are not offered.
                let isSmall = image.size.pixelCount < 1_024
                return reductionViolations(
                    codec,
                    sample,
                    tolerance: roundTrip.tolerance + tolerance,
                    triesOthers: isSmall
                )
            } catch {
                return ["An \(image) must be encodable as \(roundTrip.format), but failed: \(error.reason)."]
            }
        }
    }

    /// The same for an image that is only decoded. Without a tolerance, a pixel need not be near the mean of the pixels it
    /// replaces, but must be between the colors around them.
    func reductionViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        tolerance: Int? = nil,
        triesOthers: Bool = true
    ) -> [String] {
        do throws(ImageCodecError) {
            let header = try codec.header(of: sample.bytes)
            let offered = try offeredViolations(codec, sample, header, tolerance)
            return triesOthers ? try offered + unofferedViolations(codec, sample, header) : offered
        } catch {
            return ["An \(sample.image) in \(sample.format) must be reducible, but failed: \(error.reason)."]
        }
    }

    private func offeredViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        _ header: ImageHeader,
        _ tolerance: Int?
    ) throws(ImageCodecError) -> [String] {
        var violations: [String] = []
        for reduction in header.reductions where reduction > 1 {
            let name = "An \(sample.image) in \(sample.format), divided by \(reduction),"
            let expected = sample.image.averaged(by: reduction)
            let reduced = try codec.image(from: sample.bytes, ImageDecodingOptions(reduction: reduction))
            if reduced.bytes.count > header.bytes(reducedBy: reduction) {
                violations.append("\(name) takes more bytes than its header says.")
            }
            if reduced.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must have the orientation \(sample.image.orientation), but was decoded with \(reduced.orientation)."
                )
            }
            guard reduced.size == expected.size else {
                violations.append("\(name) must be \(expected.size), but is \(reduced.size).")
                continue
            }
            guard let tolerance else {
                let excess = ReductionBounds(of: sample.image, dividedBy: reduction).largestExcess(of: reduced)
                if excess > sample.tolerance + Self.reductionTolerance {
                    violations.append("\(name) is off by \(excess) from all surrounding pixels.")
                }
                continue
            }
            let difference = reduced.largestDifference(from: expected)
            if difference > tolerance {
                violations.append("\(name) is off by \(difference) from the mean of its pixels.")
            }
        }
        return violations
    }

    private func unofferedViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        _ header: ImageHeader
    ) throws(ImageCodecError) -> [String] {
        let whole = try codec.image(from: sample.bytes, ImageDecodingOptions())
        var violations: [String] = []
        for reduction in [.min, -1, 0, 2, 3, 7, 8, 16, 1_000, .max] where !header.reductions.contains(reduction) {
            let other = try codec.image(from: sample.bytes, ImageDecodingOptions(reduction: reduction))
            if other != whole {
                violations.append(
                    "The reduction \(reduction) is not offered by \(sample.format), so it must be treated as 1."
                )
            }
        }
        return violations
    }
}

/// The allowed range of each color component in a reduced image: the range of the original around the same place.
///
/// However a codec reduces an image, each pixel results from those it replaces and their neighbors. The bounds therefore also
/// apply to images with edges.
struct ReductionBounds: Sendable {
    /// The size and orientation of the reduced image.
    private let size: ImageSize
    private let orientation: Orientation
    /// The minimum and maximum of each component, for each pixel and its neighbors.
    private let least: [UInt8]
    private let greatest: [UInt8]

    /// Computes the bounds for an image with its sides divided by a number.
    init(of image: Image, dividedBy divisor: Int) {
        size = image.size.divided(by: divisor)
        orientation = image.orientation
        let (width, height) = (image.size.width, image.size.height)
        let source = image.bytes.span
        var least = [UInt8](repeating: 255, count: size.byteCount)
        var greatest = [UInt8](repeating: 0, count: size.byteCount)
        for y in 0..<height {
            for x in 0..<width {
                for part in 0..<Image.bytesPerPixel {
                    let value = source[(y * width + x) * Image.bytesPerPixel + part]
                    let index = (y / divisor * size.width + x / divisor) * Image.bytesPerPixel + part
                    least[index] = min(least[index], value)
                    greatest[index] = max(greatest[index], value)
                }
            }
        }
        self.least = Self.spread(least, size, min)
        self.greatest = Self.spread(greatest, size, max)
    }

    /// Returns each value combined with those of the neighboring pixels.
    private static func spread(_ values: [UInt8], _ size: ImageSize, _ join: (UInt8, UInt8) -> UInt8) -> [UInt8] {
        var spread = values
        for y in 0..<size.height {
            for x in 0..<size.width {
                for row in max(0, y - 1)...min(size.height - 1, y + 1) {
                    for column in max(0, x - 1)...min(size.width - 1, x + 1) {
                        for part in 0..<Image.bytesPerPixel {
                            let index = (y * size.width + x) * Image.bytesPerPixel + part
                            let other = values[(row * size.width + column) * Image.bytesPerPixel + part]
                            spread[index] = join(spread[index], other)
                        }
                    }
                }
            }
        }
        return spread
    }

    /// Returns the largest amount by which a color component of a reduced image of the right size is out of bounds.
    func largestExcess(of reduced: Image) -> Int {
        var largest = 0
        let values = reduced.bytes.span
        for index in 0..<min(values.count, least.count) {
            // Colors of nearly transparent pixels may be lost. Alpha is the last component.
            let alpha = index / Image.bytesPerPixel * Image.bytesPerPixel + Image.bytesPerPixel - 1
            guard index == alpha || least[alpha] >= 128 else { continue }
            largest = max(largest, Int(least[index]) - Int(values[index]), Int(values[index]) - Int(greatest[index]))
        }
        return largest
    }

    /// Returns whether an image has the right size and orientation, and no color component that is out of bounds by more than
    /// the tolerance.
    func hold(_ reduced: Image, within tolerance: Int) -> Bool {
        reduced.size == size && reduced.orientation == orientation && largestExcess(of: reduced) <= tolerance
    }
}
