import InwardImages

extension ImageCodecConformance {
    /// An interrupted call returns all of its result or fails as cancelled or timed out, at whichever step it is interrupted.
    func cancellationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        // Higher than wide, so that there are many rows to stop at.
        let image = Image.smooth(ImageSize(clamping: 16, 320))
        let bytes: [UInt8]
        do throws(ImageCodecError) { bytes = try codec.bytes(of: image, as: roundTrip.encoding) } catch {
            return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
        let tolerance = roundTrip.tolerance
        let name = "A \(image) in \(roundTrip.format)"
        let writing = InterruptibleWork(name: name, verb: "written") { () throws(ImageCodecError) in
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

    /// The same for an image that is only read, as it is and reduced. A small one is read in a single step. What one with edges
    /// looks like when it is reduced is known by its surroundings alone.
    func cancellationViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        isSmooth: Bool = false,
        hasSteps: Bool
    ) async -> [String] {
        let name = "A \(sample.image) in \(sample.format)"
        let reduction: Int
        do throws(ImageCodecError) { reduction = try codec.header(of: sample.bytes).reductions.last ?? 1 } catch {
            return ["\(name) must be read, and failed: \(error.reason)."]
        }
        let whole = InterruptibleWork(name: name, verb: "read") { () throws(ImageCodecError) in
            try codec.image(from: sample.bytes, ImageDecodingOptions())
        } isRight: {
            $0.isSimilar(to: sample.image, within: sample.tolerance)
        }
        let violations = await whole.violations(hasSteps: hasSteps)
        guard reduction > 1 else { return violations }
        let tolerance = sample.tolerance + Self.reductionTolerance
        let bounds = isSmooth ? nil : ReductionBounds(of: sample.image, dividedBy: reduction)
        let mean = sample.image.averaged(by: reduction)
        let reduced = InterruptibleWork(name: name, verb: "read divided by \(reduction)") {
            () throws(ImageCodecError) in
            try codec.image(from: sample.bytes, ImageDecodingOptions(reduction: reduction))
        } isRight: {
            bounds?.hold($0, within: tolerance) ?? $0.isSimilar(to: mean, within: tolerance)
        }
        return await violations + reduced.violations(hasSteps: hasSteps)
    }
}
