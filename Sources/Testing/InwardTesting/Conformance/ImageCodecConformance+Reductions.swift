import InwardImages

extension ImageCodecConformance {
    /// How far a reduced image without edges may be from the mean of the pixels, in addition to what the format loses.
    static let reductionTolerance = 16
    /// The same for an image of regions, at whose edges colours may be mixed: less than half of their distance.
    private static let edgeTolerance = 60

    /// An image is reduced as its header offers: nothing is lost but pixels. It is not reduced by what the header does not offer.
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
                // Large images cost time, and tell no more of what is not offered.
                let isSmall = image.size.pixelCount < 1_024
                return reductionViolations(
                    codec,
                    sample,
                    tolerance: roundTrip.tolerance + tolerance,
                    triesOthers: isSmall
                )
            } catch {
                return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
            }
        }
    }

    /// The same for an image that is only read. Without a tolerance its pixels need not be near the mean of those they stand for,
    /// but must be between the colours around them.
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
            return ["A \(sample.image) in \(sample.format) must be reduced, and failed: \(error.reason)."]
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
            let name = "A \(sample.image) in \(sample.format), divided by \(reduction),"
            let expected = sample.image.averaged(by: reduction)
            let reduced = try codec.image(from: sample.bytes, ImageDecodingOptions(reduction: reduction))
            if reduced.bytes.count > header.bytes(reducedBy: reduction) {
                violations.append("\(name) takes more bytes than its header says.")
            }
            if reduced.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must be turned as \(sample.image.orientation), and came back as \(reduced.orientation)."
                )
            }
            guard reduced.size == expected.size else {
                violations.append("\(name) must be \(expected.size), and is \(reduced.size).")
                continue
            }
            guard let tolerance else {
                let excess = ReductionBounds(of: sample.image, dividedBy: reduction).largestExcess(of: reduced)
                if excess > sample.tolerance + Self.reductionTolerance {
                    violations.append("\(name) is off by \(excess) from all pixels around.")
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
                    "The reduction \(reduction) is not offered by \(sample.format), and must be taken for 1."
                )
            }
        }
        return violations
    }
}
