import InwardImages

extension ImageCodecConformance {
    /// How many rows an image must have, so that a codec looks at its deadline between steps: as many as those that are written.
    private static let rowsOfSteps = 320

    /// Finds what is wrong with how samples are read.
    func sampleViolations(_ codec: any ImageCodec, _ specimens: [ImageSample]) async -> [String] {
        let own = samples.map { self.violations(of: codec, $0) }
        let written = specimens.filter { specimen in !samples.contains(specimen) }
        // What follows from a picture that is read wrong is not said beside it.
        let readable = zip(samples, own).filter { $0.1.isEmpty }.map(\.0)
        var violations = own.flatMap(\.self)
        for sample in readable {
            let other = Self.partner(of: sample, among: readable + written)
            violations += await concurrencyViolations([
                { self.violations(of: codec, sample) }, { self.violations(of: codec, other) },
            ])
            violations += repetitionViolations(codec, [sample, other])
            violations += await nestingViolations(codec, sample, other)
            violations += partViolations(codec, sample)
            violations += reductionViolations(codec, sample)
            let hasSteps = sample.isInterruptible && sample.image.size.height >= Self.rowsOfSteps
            violations += await cancellationViolations(codec, sample, hasSteps: hasSteps).reduced()
        }
        return violations
    }

    /// The image to read at the same time: another one, of the same format if possible, or the sample itself if it is the only one.
    private static func partner(of sample: ImageSample, among samples: [ImageSample]) -> ImageSample {
        let others = samples.filter { $0.image != sample.image }
        return others.first { $0.format == sample.format } ?? others.first ?? sample
    }
}
