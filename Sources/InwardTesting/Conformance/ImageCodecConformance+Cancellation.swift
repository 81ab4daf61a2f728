import Entities
import UseCases

extension ImageCodecConformance {
    /// An interrupted call returns all of its result or fails as cancelled or timed out, at whichever step it is interrupted.
    func cancellationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        // Higher than wide, so that there are many rows to stop at.
        let image = Image.smooth(ImageSize(clamping: 24, 320))
        let bytes: [UInt8]
        let reductions: [Int]
        do {
            bytes = try codec.bytes(of: image, as: roundTrip.encoding)
            reductions = try codec.header(of: bytes).reductions
        } catch {
            return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
        let name = "A \(image) in \(roundTrip.format)"
        let tolerance = roundTrip.tolerance
        let writing = InterruptibleWork(name: "\(name) must not be written") { () throws(ImageCodecError) in
            try codec.bytes(of: image, as: roundTrip.encoding)
        } isRight: { bytes in
            guard let copy = try? codec.image(from: bytes, ImageDecodingOptions()) else { return false }
            return copy.isSimilar(to: image, within: tolerance)
        }
        var violations = await writing.violations(hasSteps: roundTrip.isInterruptible)
        for reduction in [1, 2] where reductions.count >= reduction {
            let divisor = reduction == 1 ? 1 : reductions[reductions.count - 1]
            let expected = divisor == 1 ? image : image.averaged(by: divisor)
            let verb = divisor == 1 ? "read" : "read divided by \(divisor)"
            let tolerance = divisor == 1 ? tolerance : tolerance + Self.reductionTolerance
            let reading = InterruptibleWork(name: "\(name) must not be \(verb)") { () throws(ImageCodecError) in
                try codec.image(from: bytes, ImageDecodingOptions(reduction: divisor))
            } isRight: {
                $0.isSimilar(to: expected, within: tolerance)
            }
            violations += await reading.violations(hasSteps: roundTrip.isInterruptible)
        }
        return violations
    }
}
