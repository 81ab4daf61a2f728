public import Entities
public import UseCases

/// What every codec of pictures must do, as a check to run on an implementation.
///
/// Tell it which forms the codec writes and reads, and run it from a test of any framework:
///
///     let conformance = ImageCodecConformance(
///         roundTrips: [.png, .jpeg],
///         samples: [ImageSample(bytes, format: .gif, image: picture)],
///         unwritten: .gif
///     )
///     try await conformance.check(MyImageCodec())
///
/// It makes its pictures itself, some of them from a seed, and each violation that depends on chance names it. A codec that
/// crashes ends the test that runs the check. It waits for a codec that ignores cancellation for as long as the codec takes.
public struct ImageCodecConformance: Sendable {
    let roundTrips: [ImageRoundTrip]
    let samples: [ImageSample]
    let unwritten: ImageFormat
    let seed: UInt64
    let nestsCalls: Bool

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - roundTrips: The forms that the codec writes, each of which it must read too, and what survives of a picture.
    ///   - samples: Pictures in forms that the codec reads and does not write.
    ///   - unwritten: A form that the codec does not write.
    ///   - seed: What the pictures, the damage and the random bytes follow from.
    ///   - nestsCalls: Whether the codec is called again, in the same task, while it looks at its deadline. That finds state which
    ///     calls share, in every run. Pass `false` for a codec that holds a lock or the state of a thread meanwhile.
    public init(
        roundTrips: [ImageRoundTrip],
        samples: [ImageSample] = [],
        unwritten: ImageFormat = .psd,
        seed: UInt64 = 0,
        nestsCalls: Bool = true
    ) {
        self.roundTrips = roundTrips
        self.samples = samples
        self.unwritten = unwritten
        self.seed = seed
        self.nestsCalls = nestsCalls
    }

    /// Checks a codec.
    ///
    /// - Throws: a ``ConformanceFailure`` that tells what the codec does wrong, and of what it does wrong often the first cases.
    public func check(_ codec: any ImageCodec) async throws(ConformanceFailure) {
        var violations: [String] = []
        if roundTrips.isEmpty, samples.isEmpty { violations.append("There is neither a round trip nor a sample.") }
        for roundTrip in roundTrips {
            violations += sizeViolations(codec, roundTrip).reduced()
            violations += largeSizeViolations(codec, roundTrip).reduced()
            violations += orientationViolations(codec, roundTrip).reduced()
            violations += reductionViolations(codec, roundTrip).reduced()
            violations += partViolations(codec, roundTrip).reduced()
            violations += repetitionViolations(codec, roundTrip).reduced()
            violations += await cancellationViolations(codec, roundTrip).reduced()
            violations += await concurrencyViolations(codec, roundTrip).reduced()
            violations += await nestingViolations(codec, roundTrip).reduced()
        }
        for sample in samples {
            violations += sampleViolations(codec, sample)
            violations += reductionViolations(codec, sample)
        }
        for specimen in specimens(codec) {
            violations += truncationViolations(codec, specimen).reduced()
            violations += changeViolations(codec, specimen).reduced()
            violations += trailingViolations(codec, specimen)
        }
        violations += nonsenseViolations(codec).reduced()
        violations += unwrittenViolations(codec)
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// What is damaged to see what becomes of it: a picture of each form.
    private func specimens(_ codec: any ImageCodec) -> [ImageSample] {
        let image = Image.smooth(ImageSize(clamping: 40, 30))
        let written = roundTrips.compactMap { roundTrip in
            // That it is not written was told before.
            (try? codec.bytes(of: image, as: roundTrip.encoding)).map {
                ImageSample($0, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
            }
        }
        return written + samples
    }

    /// A form that is not written is said not to be.
    private func unwrittenViolations(_ codec: any ImageCodec) -> [String] {
        do throws(ImageCodecError) {
            _ = try codec.bytes(of: Image(size: ImageSize(clamping: 3, 2)), as: ImageEncoding(unwritten))
            return ["\(unwritten) must be unsupported, and was written."]
        } catch {
            guard error.reason != .unsupported(unwritten) else { return [] }
            return ["\(unwritten) must fail as unsupported, and did as \(error.reason)."]
        }
    }
}

extension [String] {
    /// The first of those that say the same of many cases: each sentence once, and 12 of them at the most.
    fileprivate func reduced() -> [String] {
        var seen: Set<String> = []
        return Array(filter { seen.insert($0).inserted }.prefix(12))
    }
}
