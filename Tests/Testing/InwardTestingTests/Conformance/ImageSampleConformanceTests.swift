import InwardImages
import InwardTesting
import Testing
import Thoroughness

/// What the check finds wrong with codecs that only read.
@Suite(.timeLimit(.minutes(5)))
struct ImageSampleConformanceTests {
    /// An image of small squares in several colours, none of which is as its neighbours, nor is its alpha.
    private static func sample(
        _ width: Int,
        _ height: Int,
        _ orientation: Orientation,
        hasLeadingHeader: Bool = true,
        keepsTruncatedRows: Bool = true,
        isInterruptible: Bool = true
    ) throws -> ImageSample {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let square = x / 8 + y / 8 * 3
                pixels += [square * 97, square * 151 + 80, x * 5 + y].map { UInt8($0 % 256) }
                pixels.append(UInt8(255 - square % 4 * 32))
            }
        }
        let size = ImageSize(clamping: width, height)
        let image = try #require(Image(size: size, bytes: pixels, orientation: orientation))
        return ImageSample(
            try RawImageCodec().bytes(of: image, as: ImageEncoding(RawImageCodec.format)),
            format: RawImageCodec.format,
            image: image,
            hasLeadingHeader: hasLeadingHeader,
            keepsTruncatedRows: keepsTruncatedRows,
            isInterruptible: isInterruptible
        )
    }

    private static func samples() throws -> [ImageSample] {
        try [sample(12, 40, .left), sample(44, 12, .down), sample(4, 320, .up)]
    }

    /// A codec that writes nothing.
    private struct ReadingCodec: ImageCodec {
        let codec: RawImageCodec

        func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader { try codec.header(of: bytes) }

        func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
            try codec.image(from: bytes, options)
        }

        func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
            throw ImageCodecError(.unsupported(encoding.format), "is not written")
        }
    }

    /// What the check finds wrong with a codec that only reads.
    private func violations(of flaw: RawImageCodec.Flaw?, _ samples: [ImageSample]) async -> [String] {
        do throws(ConformanceFailure) {
            let codec = ReadingCodec(codec: RawImageCodec(flaw: flaw))
            try await ImageCodecConformance(roundTrips: [], samples: samples).check(codec)
            return []
        } catch {
            return error.violations
        }
    }

    @Test func aCodecThatReadsAsItMustPasses() async throws {
        #expect(await violations(of: nil, try Self.samples()) == [])
    }

    /// For each flaw, a sentence of what is found.
    private static let findings: [(RawImageCodec.Flaw, String)] = [
        (
            .ignoresAllowedTruncationWhenReducing,
            "in RAW, reduced by 2, must be read where truncation is allowed, and failed: truncated(RAW)."
        ),
        (
            .needsAllBytesForHeader,
            "12×40 in RAW must be read from the first half of the bytes, and failed: truncated(RAW)."
        ),
        (
            .forgetsOrientationOfPart,
            "of 12×40 in RAW must be read from the first half of the bytes, and is another one."
        ),
        (
            .ignoresAllowedTruncation,
            "12×40 in RAW must be read where truncation is allowed, and failed: truncated(RAW)."
        ),
        (.clearsWhatIsCutShort, "of 12×40 in RAW must give its first rows, and these are off by 255."),
        (.turnsWhatIsCutShort, "of 12×40 in RAW must have its size and orientation, and do not."),
        (.takesWhatIsCutShort, "RAW that is cut short after 9 of 1929 bytes must not decode, and does."),
        (.shiftsByABlockWhenReducing, "An image of 44×12 in RAW, divided by 2, is off by"),
        (.losesAlphaWhenReducing, "An image of 44×12 in RAW, divided by 2, is off by"),
        (.losesOrientationWhenReducing, "12×40 in RAW, divided by 2, must be turned as left, and came back as up."),
        (
            .readsHalfWhenCancelled,
            "12×40 in RAW must not be read in part when its task is cancelled at look 2 of 5, and is."
        ),
        (
            .readsHalfAfterDeadline,
            "12×40 in RAW must not be read in part when the deadline of its task has passed at look 2 of 5, and is."
        ),
        (
            .reducesHalfWhenCancelled,
            "12×40 in RAW must not be read divided by 2 in part when its task is cancelled at look 2 of 5, and is."
        ),
        (
            .reducesHalfAfterDeadline,
            "must not be read divided by 2 in part when the deadline of its task has passed at look 2 of 5, and is."
        ),
        (
            .looksAtTheDeadlineOnlyAtTheStart,
            "4×320 in RAW must be read with three looks at the deadline or more, and was with 1."
        ),
        (
            .looksForCancellationOnlyAtTheStart,
            "4×320 in RAW must not be read to the end when its task is cancelled at look 1 of 40, and is."
        ),
        (.remembersHeadersByLength, "One after the other: An image of 12×40 in RAW says in its header to be 44×12."),
        (.remembersImagesByLength, "One after the other: An image of 12×40 in RAW came back as an image of 44×12."),
        (.sharesPixelsWhenReading, "12×40 in RAW must be read right while another is read, and is not."),
        (.sharesTheHeader, "12×40 in RAW must be read right while another is read, and is not."),
        (.failsWhileItIsBusy, "12×40 in RAW must not change another that is read meanwhile, and does."),
        (.sharesPixelsWhileItIsSlow, "At the same time: An image of"),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 4)) func eachFlawIsFound(
        flaw: RawImageCodec.Flaw,
        sentence: String
    ) async throws {
        let found = await violations(of: flaw, try Self.samples())
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test func aSettingSparesACodec() async throws {
        let partial = try Self.sample(12, 40, .left, hasLeadingHeader: false, keepsTruncatedRows: false)
        let whole = try Self.sample(4, 320, .up, isInterruptible: false)
        #expect(await violations(of: .needsAllBytesForHeader, [partial]) == [])
        #expect(await violations(of: .ignoresAllowedTruncation, [partial]) == [])
        #expect(await violations(of: .looksAtTheDeadlineOnlyAtTheStart, [whole]) == [])
    }

    @Test func aSampleIsReadBesideAnImageThatIsWritten() async throws {
        let conformance = ImageCodecConformance(
            roundTrips: [ImageRoundTrip(ImageEncoding(RawImageCodec.format))],
            samples: [try Self.sample(20, 24, .up)]
        )
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance.check(RawImageCodec(flaw: .sharesTheHeader))
        }
        let sentence = "An image of 20×24 in RAW must be read right while another is read, and is not."
        #expect(failure?.violations.contains(sentence) == true)
    }
}
