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

extension ImageCodecConformance {
    /// How many rows an image must have, so that a codec looks at its deadline between steps: as many as those that are written.
    private static let rowsOfSteps = 320

    /// Finds what is wrong with how samples are read.
    func sampleViolations(_ codec: any ImageCodec, _ specimens: [ImageSample]) async -> [String] {
        let own = samples.map { self.violations(of: codec, $0) }
        let written = specimens.filter { specimen in !samples.contains(specimen) }
        // What follows from an image that is read wrong is not said beside it.
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

/// Encoded bytes and the image in them, for a format that a codec only reads.
///
/// Choose an image with edges and, where the format has alpha, with alpha that differs: shifts and lost alpha are found by those.
/// Pass two samples of different images for each format, so that the check finds out whether calls mix them, and one of at least
/// 320 rows, so that it finds out whether the codec can be interrupted.
public struct ImageSample: Hashable, Sendable {
    /// The encoded image.
    public let bytes: [UInt8]
    /// The format it is encoded in.
    public let format: ImageFormat
    /// The image that must be decoded, with its orientation.
    public let image: Image
    /// How far each part of a colour may be from what it is in the image, from 0 to 255.
    public let tolerance: Int
    /// Whether the header can be read from the first half of the bytes.
    public let hasLeadingHeader: Bool
    /// Whether three quarters of the bytes give the first third of the rows, where truncation is allowed.
    public let keepsTruncatedRows: Bool
    /// Whether the codec looks at its deadline between the steps of its work.
    public let isInterruptible: Bool

    /// Describes the image in encoded bytes.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image.
    ///   - format: The format it is encoded in.
    ///   - image: The image that must be decoded, with its orientation.
    ///   - tolerance: How far each part of a colour may be from what it is in the image, from 0 to 255.
    ///   - hasLeadingHeader: Whether the header can be read from the first half of the bytes.
    ///   - keepsTruncatedRows: Whether three quarters of the bytes give the first third of the rows, where truncation is allowed.
    ///   - isInterruptible: Whether the codec looks at its deadline between the steps of its work. That is demanded of images of at
    ///     least 320 rows.
    public init(
        _ bytes: [UInt8],
        format: ImageFormat,
        image: Image,
        tolerance: Int = 0,
        hasLeadingHeader: Bool = true,
        keepsTruncatedRows: Bool = true,
        isInterruptible: Bool = true
    ) {
        self.bytes = bytes
        self.format = format
        self.image = image
        self.tolerance = tolerance
        self.hasLeadingHeader = hasLeadingHeader
        self.keepsTruncatedRows = keepsTruncatedRows
        self.isInterruptible = isInterruptible
    }
}
