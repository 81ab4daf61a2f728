import Entities
import UseCases

extension ImageCodecConformance {
    /// How far a picture without edges may be from the mean of the larger one's pixels, beside what its form loses.
    private static let reductionTolerance = 16

    /// A picture is as much smaller as its header offers, and as large as it is where that is asked for which is not offered.
    func reductionViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        let sizes = [(64, 48), (67, 45), (129, 8), (5, 3)].map { ImageSize(clamping: $0.0, $0.1) }
        return sizes.flatMap { size in
            let image = Image.smooth(size)
            do throws(ImageCodecError) {
                let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
                let sample = ImageSample(bytes, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
                return reductionViolations(codec, sample, tolerance: roundTrip.tolerance + Self.reductionTolerance)
            } catch {
                return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
            }
        }
    }

    /// The same for a picture that is read alone; of one with edges there is no telling what its reductions look like.
    func reductionViolations(_ codec: any ImageCodec, _ sample: ImageSample, tolerance: Int = 255) -> [String] {
        do throws(ImageCodecError) {
            let header = try codec.header(of: sample.bytes)
            return try offeredViolations(codec, sample, header, tolerance)
                + unofferedViolations(codec, sample, header)
        } catch {
            return ["A \(sample.image) in \(sample.format) must be reduced, and failed: \(error.reason)."]
        }
    }

    private func offeredViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        _ header: ImageHeader,
        _ tolerance: Int
    ) throws(ImageCodecError) -> [String] {
        var violations: [String] = []
        for reduction in header.reductions {
            let name = "A \(sample.image) in \(sample.format), divided by \(reduction),"
            let expected = sample.image.averaged(by: reduction)
            let reduced = try codec.image(from: sample.bytes, ImageDecodingOptions(reduction: reduction))
            if reduced.bytes.count > header.bytes(reducedBy: reduction) {
                violations.append("\(name) takes more bytes than its header says.")
            }
            guard reduced.size == expected.size else {
                violations.append("\(name) must be \(expected.size), and is \(reduced.size).")
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
