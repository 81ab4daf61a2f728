public import InwardImages

/// A check of the requirements for every image codec.
///
/// List the formats that the codec encodes and decodes, and run the check in a test of any framework:
///
/// ```swift
/// func checkConformance(of codec: any ImageCodec, gif: [UInt8], showing image: Image) async throws {
///     let conformance = ImageCodecConformance(
///         roundTrips: [.png, .jpeg],
///         samples: [ImageSample(gif, format: .gif, image: image)],
///         unwritten: .gif
///     )
///     try await conformance.check(codec)
/// }
/// ```
///
/// For each format that the codec encodes, the check generates images and verifies that:
///
/// - images of many sizes can be encoded and decoded without losing alpha or orientation, and images with sides over 65,535 can
///   be encoded or are refused as `unencodable`;
/// - images that are reduced while decoding lose only resolution, and a reduction that the header does not offer is ignored;
/// - the first half of the bytes yields the header and, if truncation is allowed, the first three quarters yield the first rows;
/// - decoding bytes that are truncated, changed, random or followed by others returns an image of the size in their header, or
///   fails with the right error;
/// - a call that is cancelled or reaches its deadline returns its complete result, or fails as `cancelled` or `timedOut`,
///   whether this happens before it begins or at any step;
/// - `decode` and `encode` have the same results as `image(from:_:)` and `bytes(of:as:)`, and stop if they are cancelled;
/// - calls share no state, whether they are sequential, concurrent, or nested in one another.
///
/// The check fails for anything that it cannot verify. If a format does not support something, say so in its
/// ``ImageRoundTrip``. For a format that the codec only decodes, pass an ``ImageSample``, or preferably several. Samples go
/// through the same checks, except those that need generated images.
///
/// Some images are generated from a seed, and violations that depend on it include it. A codec that crashes ends the test
/// process, and one that never returns makes the check hang.
public struct ImageCodecConformance: Sendable {
    let roundTrips: [ImageRoundTrip]
    let samples: [ImageSample]
    let unwritten: ImageFormat
    let seed: UInt64
    let nestsCalls: Bool

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - roundTrips: The formats that the codec encodes and decodes, and what they must preserve.
    ///   - samples: Images in formats that the codec only decodes.
    ///   - unwritten: A format that the codec must refuse to encode.
    ///   - seed: The seed for the images, the damage and the random bytes.
    ///   - nestsCalls: Whether to call the codec again from within its deadline checks, which reliably detects state that calls
    ///     share. Pass `false` for a codec that holds a lock or thread-local state at that point.
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
    /// - Throws: A ``ConformanceFailure`` that lists the violations, with the first cases of each check.
    public func check(_ codec: any ImageCodec) async throws(ConformanceFailure) {
        var violations: [String] = []
        if roundTrips.isEmpty, samples.isEmpty {
            violations.append("There is nothing to check. Pass at least one round trip or sample.")
        }
        for roundTrip in roundTrips {
            violations += sizeViolations(codec, roundTrip).reduced()
            violations += largeSizeViolations(codec, roundTrip).reduced()
            violations += orientationViolations(codec, roundTrip).reduced()
            violations += reductionViolations(codec, roundTrip).reduced()
            violations += partViolations(codec, roundTrip).reduced()
            violations += repetitionViolations(codec, roundTrip).reduced()
            violations += await cancellationViolations(codec, roundTrip).reduced()
            violations += await concurrencyViolations(codec, roundTrip).reduced()
            violations += await taskViolations(codec, roundTrip).reduced()
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

    /// Returns the images to damage, one for each format.
    private func specimens(_ codec: any ImageCodec) -> [ImageSample] {
        let image = Image.smooth(ImageSize(clamping: 40, 30))
        let written = roundTrips.compactMap { roundTrip in
            // If encoding fails, another check has reported it.
            (try? codec.bytes(of: image, as: roundTrip.encoding)).map {
                ImageSample($0, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
            }
        }
        return written + samples
    }

    /// Encoding in a format that the codec does not support fails as unsupported.
    private func unwrittenViolations(_ codec: any ImageCodec) -> [String] {
        do throws(ImageCodecError) {
            _ = try codec.bytes(of: Image(size: ImageSize(clamping: 3, 2)), as: ImageEncoding(unwritten))
            return ["\(unwritten) must be unsupported, but was encoded."]
        } catch {
            guard error.reason != .unsupported(unwritten) else { return [] }
            return ["\(unwritten) must fail as unsupported, but failed as \(error.reason)."]
        }
    }
}

extension [String] {
    /// Returns the first 12 distinct violations.
    func reduced() -> [String] {
        var seen: Set<String> = []
        return Array(filter { seen.insert($0).inserted }.prefix(12))
    }
}

extension ImageCodecConformance {
    /// The minimum number of rows for which a codec must check its deadline between steps. Generated images have this number.
    private static let rowsOfSteps = 320

    /// Returns what is wrong with the decoding of samples.
    func sampleViolations(_ codec: any ImageCodec, _ specimens: [ImageSample]) async -> [String] {
        let own = samples.map { self.violations(of: codec, $0) }
        let written = specimens.filter { specimen in !samples.contains(specimen) }
        // Consequences of an image that is decoded incorrectly are not reported separately.
        let readable = zip(samples, own).filter { $0.1.isEmpty }.map(\.0)
        var violations = own.flatMap(\.self)
        for sample in readable {
            let other = Self.partner(of: sample, among: readable + written)
            violations += await CallOverlap.violations(of: [
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

    /// Returns the image to decode at the same time: another one, preferably of the same format, or the sample itself if it is
    /// the only one.
    private static func partner(of sample: ImageSample, among samples: [ImageSample]) -> ImageSample {
        let others = samples.filter { $0.image != sample.image }
        return others.first { $0.format == sample.format } ?? others.first ?? sample
    }
}

/// Encoded bytes and the image that they contain, for a format that a codec only decodes.
///
/// ```swift
/// func samples(ofGIFs files: [[UInt8]], showing images: [Image]) -> [ImageSample] {
///     zip(files, images).map { bytes, image in
///         ImageSample(bytes, format: .gif, image: image, tolerance: 2, keepsTruncatedRows: false)
///     }
/// }
/// ```
///
/// Choose an image with edges and, if the format supports alpha, with varying alpha, so that the check detects shifted pixels
/// and lost alpha. Pass two samples of different images for each format, so that the check detects calls that mix them. Give
/// one at least 320 rows, so that the check can interrupt the codec.
public struct ImageSample: Hashable, Sendable {
    /// The encoded image.
    public let bytes: [UInt8]
    /// The format of the encoded image.
    public let format: ImageFormat
    /// The expected image, with its orientation.
    public let image: Image
    /// The allowed difference of each color component, from 0 to 255.
    public let tolerance: Int
    /// Whether the header can be read from the first half of the bytes.
    public let hasLeadingHeader: Bool
    /// Whether decoding the first three quarters of the bytes returns the first third of the rows, if truncation is allowed.
    public let keepsTruncatedRows: Bool
    /// Whether the codec checks its deadline between the steps of its work.
    public let isInterruptible: Bool

    /// Creates a sample.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image.
    ///   - format: The format of the encoded image.
    ///   - image: The expected image, with its orientation.
    ///   - tolerance: The allowed difference of each color component, from 0 to 255.
    ///   - hasLeadingHeader: Whether the header can be read from the first half of the bytes.
    ///   - keepsTruncatedRows: Whether decoding the first three quarters of the bytes returns the first third of the rows, if
    ///     truncation is allowed.
    ///   - isInterruptible: Whether the codec checks its deadline between the steps of its work. Only checked if the image has
    ///     at least 320 rows.
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
