import Entities
import InwardTesting
import Testing
import Thoroughness
import UseCases

@Suite(.timeLimit(.minutes(5)))
struct ImageCodecConformanceTests {
    private let conformance = ImageCodecConformance(roundTrips: [
        ImageRoundTrip(ImageEncoding(RawImageCodec.format))
    ])

    /// What the check finds wrong with a codec.
    private func violations(of flaw: RawImageCodec.Flaw) async throws -> [String] {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance.check(RawImageCodec(flaw: flaw))
        }
        return failure?.violations ?? []
    }

    @Test func aCodecThatDoesAllItMustPasses() async throws {
        try await conformance.check(RawImageCodec())
    }

    /// One sentence of what is to be found for each thing that a codec can do wrong.
    private static let findings: [(RawImageCodec.Flaw, String)] = [
        (.losesAlpha, "A picture of 1×3 in RAW must come back within 0 steps, and is off by"),
        (.shiftsRows, "A picture of 1×2 in RAW must come back within 0 steps, and is off by"),
        (.losesOrientation, "A picture of 19×11 in RAW must be turned as down, and came back as up."),
        (.forgetsOrientationInHeader, "A picture of 19×11 in RAW must be turned as down, and its header says up."),
        (.namesAnotherFormat, "A picture of 1×1 in RAW says in its header to be PNG."),
        (.saysAnotherSize, "A picture of 64×48 in RAW must be reduced, and failed: truncated(RAW)."),
        (.reducesDownwards, "A picture of 67×45 in RAW, divided by 2, must be 34×23, and is 33×22."),
        (.reducesByTheFirstPixels, "A picture of 64×48 in RAW, divided by 2, is off by"),
        (.reducesAsAsked, "The reduction 3 is not offered by RAW, and must be taken for 1."),
        (.takesWhatIsCutShort, "RAW that is cut short behind 9 of 4809 bytes must be no picture, and is one."),
        (
            .saysWhatIsCutShortIsUnrecognized,
            "RAW that is cut short behind 64 of 4809 bytes must fail as truncated or damaged, and did as unrecognized."
        ),
        (
            .givesWhatThereIsInAnotherSize,
            "RAW that is cut short behind 9 of 4809 bytes must be 40×30, as its header says, and is 40×1."
        ),
        (.blamesTheTask, "What is no picture, 0 bytes by the seed 0, must fail for what it is, and did as cancelled."),
        (.readsAnything, "by the seed 0, must have no header, and has one."),
        (.writesAnything, "PSD must be unsupported, and was written."),
        (.saysNothingIsUnsupported, "PSD must fail as unsupported, and did as unencodable(PSD)."),
        (
            .ignoresCancellationWhenReading,
            "A picture of 320×240 in RAW must not be read in a task that is cancelled, and is."
        ),
        (
            .ignoresCancellationWhenWriting,
            "A picture of 320×240 in RAW must not be written in a task that is cancelled, and is."
        ),
        (
            .failsAsDamagedWhenCancelled,
            "A picture of 320×240 in RAW must not be read in a task that is cancelled, and failed as damaged(RAW)."
        ),
        (
            .ignoresDeadlineWhenReading,
            "A picture of 320×240 in RAW must not be read after the deadline of its task, and is."
        ),
        (
            .ignoresDeadlineWhenWriting,
            "A picture of 320×240 in RAW must not be written after the deadline of its task, and is."
        ),
        (
            .failsAsCancelledAfterDeadline,
            "A picture of 320×240 in RAW must not be read after the deadline of its task, and failed as cancelled."
        ),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 3)) func eachFlawIsFound(
        flaw: RawImageCodec.Flaw,
        sentence: String
    ) async throws {
        let found = try await violations(of: flaw)
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test func thereIsAFindingForEachFlaw() {
        #expect(Set(Self.findings.map(\.0)) == Set(RawImageCodec.Flaw.allCases))
    }

    @Test func aCheckOfNothingIsNoCheck() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await ImageCodecConformance(roundTrips: []).check(RawImageCodec())
        }
    }

    @Test func aSampleIsComparedWithItsPicture() async throws {
        let codec = RawImageCodec()
        let image = Image(size: ImageSize(clamping: 9, 5), color: Color(red: 200, green: 100, blue: 50))
        let bytes = try codec.bytes(of: image, as: ImageEncoding(RawImageCodec.format))
        let right = ImageSample(bytes, format: RawImageCodec.format, image: image)
        try await ImageCodecConformance(roundTrips: [], samples: [right]).check(codec)
        let wrong = ImageSample(bytes, format: RawImageCodec.format, image: Image(size: image.size, color: .black))
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await ImageCodecConformance(roundTrips: [], samples: [wrong]).check(codec)
        }
        #expect(failure?.violations == ["A picture of 9×5 in RAW must come back within 0 steps, and is off by 200."])
    }

    @Test func whatIsLostWithinTheToleranceIsNoViolation() async throws {
        let codec = RawImageCodec()
        let image = Image(size: ImageSize(clamping: 9, 5), color: Color(gray: 100))
        let bytes = try codec.bytes(of: image, as: ImageEncoding(RawImageCodec.format))
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
