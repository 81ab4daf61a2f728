public import InwardImages

/// Checks what every image codec must do.
///
/// List the formats that the codec writes and reads, and run the check from a test of any framework:
///
///     let conformance = ImageCodecConformance(
///         roundTrips: [.png, .jpeg],
///         samples: [ImageSample(bytes, format: .gif, image: image)],
///         unwritten: .gif
///     )
///     try await conformance.check(MyImageCodec())
///
/// For each format that the codec writes, the check makes images and finds out whether:
///
/// - images of many sizes come back, with their alpha and orientation, and sides over 65,535 come back or are refused as
///   `unencodable`;
/// - images that are reduced while they are decoded keep all but the pixels left out, and only offered reductions are made;
/// - the first half of the bytes gives the header, and three quarters of them give the first rows where truncation is allowed;
/// - bytes that are cut short, changed, random or followed by others give an image of the stated size or the error for it;
/// - a call that is cancelled or whose deadline passes, before it begins or at any step, returns all of its result or fails as
///   `cancelled` or `timedOut`;
/// - calls share nothing: one after the other, at the same time, and one between the steps of another.
///
/// The check fails for what it cannot find out. If a format cannot do something, say so in its ``ImageRoundTrip``. For a format
/// that the codec only reads, pass an ``ImageSample`` or, better, several. The same is found out by them, except what needs other
/// images than these.
///
/// Some images follow from a seed, and violations that depend on it name it. A codec that crashes ends the test. The check waits
/// for a codec that ignores cancellation.
public struct ImageCodecConformance: Sendable {
    let roundTrips: [ImageRoundTrip]
    let samples: [ImageSample]
    let unwritten: ImageFormat
    let seed: UInt64
    let nestsCalls: Bool

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - roundTrips: The formats that the codec writes and reads, and what must survive of an image.
    ///   - samples: Images in formats that the codec only reads.
    ///   - unwritten: A format that the codec does not write.
    ///   - seed: Determines the images, the damage and the random bytes.
    ///   - nestsCalls: Whether the codec is called again, in the same task, while it looks at its deadline. That finds state which
    ///     calls share in every run. Pass `false` for a codec that holds a lock or the state of a thread meanwhile.
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
    /// - Throws: a ``ConformanceFailure`` that lists what the codec does wrong, with the first cases of each check.
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
        let specimens = specimens(codec)
        violations += await sampleViolations(codec, specimens)
        for specimen in specimens {
            violations += truncationViolations(codec, specimen).reduced()
            violations += changeViolations(codec, specimen).reduced()
            violations += trailingViolations(codec, specimen)
        }
        violations += nonsenseViolations(codec).reduced()
        violations += unwrittenViolations(codec)
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// The images that are damaged: one of each format.
    private func specimens(_ codec: any ImageCodec) -> [ImageSample] {
        let image = Image.smooth(ImageSize(clamping: 40, 30))
        let written = roundTrips.compactMap { roundTrip in
            // If it cannot be written, another check has said so.
            (try? codec.bytes(of: image, as: roundTrip.encoding)).map {
                ImageSample($0, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
            }
        }
        return written + samples
    }

    /// A format that is not written is unsupported.
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
    /// Each violation once, and the first 12 of them.
    func reduced() -> [String] {
        var seen: Set<String> = []
        return Array(filter { seen.insert($0).inserted }.prefix(12))
    }
}
