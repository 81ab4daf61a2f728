import InwardImages
import InwardTesting
import Testing
import Thoroughness

@Suite(.timeLimit(.minutes(5)))
struct ImageCodecConformanceTests {
    private static let raw = ImageEncoding(RawImageCodec.format)

    private let conformance = ImageCodecConformance(roundTrips: [ImageRoundTrip(raw)])

    /// Returns the violations that the check finds in a codec.
    private func violations(of flaw: RawImageCodec.Flaw) async throws -> [String] {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance.check(RawImageCodec(flaw: flaw))
        }
        return failure?.violations ?? []
    }

    @Test func correctCodecPasses() async throws {
        try await conformance.check(RawImageCodec())
    }

    // Serialized, so that the concurrent calls of each check get enough threads.
    @Test(.serialized, arguments: Thoroughness.sample(RawImageCodec.findings, every: 17)) func eachFlawIsFound(
        flaw: RawImageCodec.Flaw,
        sentence: String
    ) async throws {
        let found = try await violations(of: flaw)
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test func everyFlawHasAFinding() {
        #expect(Set(RawImageCodec.findings.map(\.0)) == Set(RawImageCodec.Flaw.allCases))
    }

    /// Flaws, each with a round trip that allows it.
    private static let settings: [(RawImageCodec.Flaw, ImageRoundTrip)] = [
        (.needsAllBytesForHeader, ImageRoundTrip(raw, hasLeadingHeader: false, keepsTruncatedRows: false)),
        (.forgetsOrientationOfPart, ImageRoundTrip(raw, hasLeadingHeader: false, keepsTruncatedRows: false)),
        (.ignoresAllowedTruncation, ImageRoundTrip(raw, keepsTruncatedRows: false)),
        (.checksTheDeadlineOnlyAtTheStart, ImageRoundTrip(raw, isInterruptible: false)),
        (.checksForCancellationOnlyAtTheStart, ImageRoundTrip(raw, isInterruptible: false)),
        (.losesAlpha, ImageRoundTrip(raw, keepsAlpha: false)),
        (.losesOrientation, ImageRoundTrip(raw, keepsOrientation: false)),
        (.losesLowBits, ImageRoundTrip(raw, tolerance: 4)),
    ]

    @Test(arguments: Thoroughness.sample(settings, every: 3)) func flawAllowedByASettingIsNotReported(
        flaw: RawImageCodec.Flaw,
        roundTrip: ImageRoundTrip
    ) async throws {
        try await ImageCodecConformance(roundTrips: [roundTrip]).check(RawImageCodec(flaw: flaw))
    }

    @Test func longestSideMustBeEncodable() async throws {
        let conformance = ImageCodecConformance(roundTrips: [ImageRoundTrip(Self.raw, longestSide: 65_537)])
        let failure = await #expect(throws: ConformanceFailure.self) { try await conformance.check(RawImageCodec()) }
        #expect(
            failure?.violations == [
                "An image of 65537×1 must be encodable as RAW, but failed: unencodable(RAW).",
                "An image of 1×65537 must be encodable as RAW, but failed: unencodable(RAW).",
            ]
        )
    }

    @Test func callsAreNotNestedIfDisabled() async throws {
        let roundTrip = ImageRoundTrip(Self.raw)
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await ImageCodecConformance(roundTrips: [roundTrip]).check(RawImageCodec(flaw: .sharesTheHeader))
        }
        let nested = failure?.violations.filter { $0.contains("while another") } ?? []
        #expect(!nested.isEmpty)
        do {
            try await ImageCodecConformance(roundTrips: [roundTrip], nestsCalls: false)
                .check(RawImageCodec(flaw: .sharesTheHeader))
        } catch {
            #expect(error.violations.allSatisfy { $0.contains("Concurrently") }, "\(error)")
        }
    }

    @Test func emptyCheckFails() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await ImageCodecConformance(roundTrips: []).check(RawImageCodec())
        }
    }

    @Test func sampleIsComparedWithItsImage() async throws {
        let codec = RawImageCodec()
        let image = Image(size: ImageSize(clamping: 9, 5), color: Color(red: 200, green: 100, blue: 50))
        let bytes = try codec.bytes(of: image, as: Self.raw)
        let right = ImageSample(bytes, format: RawImageCodec.format, image: image)
        try await ImageCodecConformance(roundTrips: [], samples: [right]).check(codec)
        let wrong = ImageSample(bytes, format: RawImageCodec.format, image: Image(size: image.size, color: .black))
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await ImageCodecConformance(roundTrips: [], samples: [wrong]).check(codec)
        }
        #expect(
            failure?.violations == ["An image of 9×5 in RAW must match the original within 0 steps, but is off by 200."]
        )
    }

    @Test(arguments: [RawImageCodec.Flaw.ignoresCancellationWhenReading, .ignoresDeadlineWhenReducing])
    func interruptedDecodingOfASampleIsChecked(flaw: RawImageCodec.Flaw) async throws {
        let image = Image(size: ImageSize(clamping: 9, 5), color: Color(gray: 100))
        let bytes = try RawImageCodec().bytes(of: image, as: Self.raw)
        let sample = ImageSample(bytes, format: RawImageCodec.format, image: image)
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await ImageCodecConformance(roundTrips: [], samples: [sample]).check(RawImageCodec(flaw: flaw))
        }
        #expect(failure?.violations.allSatisfy { $0.hasPrefix("An image of 9×5 in RAW must not be decoded") } == true)
    }

    @Test func lossWithinTheToleranceIsAllowed() async throws {
        let codec = RawImageCodec()
        let image = Image(size: ImageSize(clamping: 9, 5), color: Color(gray: 100))
        let bytes = try codec.bytes(of: image, as: Self.raw)
        let other = Image(size: image.size, color: Color(gray: 103))
        for (tolerance, passes) in [(2, false), (3, true)] {
            let sample = ImageSample(bytes, format: RawImageCodec.format, image: other, tolerance: tolerance)
            let conformance = ImageCodecConformance(roundTrips: [], samples: [sample])
            if passes {
                try await conformance.check(codec)
            } else {
                await #expect(throws: ConformanceFailure.self) { try await conformance.check(codec) }
            }
        }
    }
}
