import InwardImages

extension ImageCodecConformance {
    /// An interrupted call returns its complete result or fails as cancelled or timed out, at whichever step it is interrupted.
    func cancellationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        // A tall image has many rows to stop at.
        let image = Image.smooth(ImageSize(clamping: 16, 320))
        let bytes: [UInt8]
        do throws(ImageCodecError) { bytes = try codec.bytes(of: image, as: roundTrip.encoding) } catch {
            return ["An \(image) must be encodable as \(roundTrip.format), but failed: \(error.reason)."]
        }
        let tolerance = roundTrip.tolerance
        let name = "An \(image) in \(roundTrip.format)"
        let writing = InterruptibleCall(name: name, verb: "encoded") { () throws(ImageCodecError) in
            try codec.bytes(of: image, as: roundTrip.encoding)
        } isRight: { bytes in
            guard let copy = try? codec.image(from: bytes, ImageDecodingOptions()) else { return false }
            return copy.isSimilar(to: image, within: tolerance)
        }
        return await writing.violations(hasSteps: roundTrip.isInterruptible)
            + cancellationViolations(
                codec,
                ImageSample(bytes, format: roundTrip.format, image: image, tolerance: tolerance),
                isSmooth: true,
                hasSteps: roundTrip.isInterruptible
            )
    }

    /// The same for an image that is only decoded, at full size and reduced. A small image may be decoded in a single step. If
    /// an image has edges, its reduced form is only checked to be within the range of the surrounding colors.
    func cancellationViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        isSmooth: Bool = false,
        hasSteps: Bool
    ) async -> [String] {
        let name = "An \(sample.image) in \(sample.format)"
        let reduction: Int
        do throws(ImageCodecError) { reduction = try codec.header(of: sample.bytes).reductions.last ?? 1 } catch {
            return ["\(name) must be decodable, but failed: \(error.reason)."]
        }
        let whole = InterruptibleCall(name: name, verb: "decoded") { () throws(ImageCodecError) in
            try codec.image(from: sample.bytes, ImageDecodingOptions())
        } isRight: {
            $0.isSimilar(to: sample.image, within: sample.tolerance)
        }
        let violations = await whole.violations(hasSteps: hasSteps)
        guard reduction > 1 else { return violations }
        let tolerance = sample.tolerance + Self.reductionTolerance
        let bounds = isSmooth ? nil : ReductionBounds(of: sample.image, dividedBy: reduction)
        let mean = sample.image.averaged(by: reduction)
        let reduced = InterruptibleCall(name: name, verb: "decoded with the reduction \(reduction)") {
            () throws(ImageCodecError) in
            try codec.image(from: sample.bytes, ImageDecodingOptions(reduction: reduction))
        } isRight: {
            bounds?.hold($0, within: tolerance) ?? $0.isSimilar(to: mean, within: tolerance)
        }
        return await violations + reduced.violations(hasSteps: hasSteps)
    }
}
