import InwardImages
import InwardTesting
import Testing
import Thoroughness

/// Tests of the check with codecs that only decode.
@Suite(.timeLimit(.minutes(5)))
struct ImageSampleConformanceTests {
    /// Returns an image of small squares in several colors. Neighboring squares differ in color and in alpha.
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

    /// A codec that encodes nothing.
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

    /// Returns the violations that the check finds in a codec that only decodes.
    private func violations(of flaw: RawImageCodec.Flaw?, _ samples: [ImageSample]) async -> [String] {
        do throws(ConformanceFailure) {
            let codec = ReadingCodec(codec: RawImageCodec(flaw: flaw))
            try await ImageCodecConformance(roundTrips: [], samples: samples).check(codec)
            return []
        } catch {
            return error.violations
        }
    }

    @Test func correctDecoderPasses() async throws {
        #expect(await violations(of: nil, try Self.samples()) == [])
    }

    /// For each flaw, a part of a violation that must be found.
    private static let findings: [(RawImageCodec.Flaw, String)] = [
        (
            .ignoresAllowedTruncationWhenReducing,
            "in RAW, reduced by 2, must be decodable where truncation is allowed, but failed: truncated(RAW)."
        ),
        (
            .needsAllBytesForHeader,
            "12×40 in RAW must be readable from the first half of the bytes, but failed: truncated(RAW)."
        ),
        (
            .forgetsOrientationOfPart,
            "of 12×40 in RAW must be readable from the first half of the bytes, but differs."
        ),
        (
            .ignoresAllowedTruncation,
            "12×40 in RAW must be decodable where truncation is allowed, but failed: truncated(RAW)."
        ),
        (.clearsTruncatedImages, "of 12×40 in RAW must provide the first rows, but these are off by 255."),
        (.turnsTruncatedImages, "of 12×40 in RAW must decode with the right size and orientation, but do not."),
        (.decodesTruncatedBytes, "RAW truncated after 9 of 1929 bytes must not decode, but does."),
        (.shiftsByABlockWhenReducing, "An image of 44×12 in RAW, divided by 2, is off by"),
        (.losesAlphaWhenReducing, "An image of 44×12 in RAW, divided by 2, is off by"),
        (
            .losesOrientationWhenReducing,
            "12×40 in RAW, divided by 2, must have the orientation left, but was decoded with up."
        ),
        (
            .decodesPartiallyWhenCancelled,
            "12×40 in RAW must not be decoded only in part when its task is cancelled at deadline check 2 of 5, but is."
        ),
        (
            .decodesPartiallyAfterDeadline,
            "12×40 in RAW must not be decoded only in part when its deadline has passed at deadline check 2 of 5, but is."
        ),
        (
            .reducesPartiallyWhenCancelled,
            "12×40 in RAW must not be decoded with the reduction 2 only in part when its task is cancelled at deadline check 2 of 5, but is."
        ),
        (
            .reducesPartiallyAfterDeadline,
            "must not be decoded with the reduction 2 only in part when its deadline has passed at deadline check 2 of 5, but is."
        ),
        (
            .checksTheDeadlineOnlyAtTheStart,
            "4×320 in RAW must be decoded with at least three deadline checks, but was with 1."
        ),
        (
            .checksForCancellationOnlyAtTheStart,
            "4×320 in RAW must not be decoded completely when its task is cancelled at deadline check 1 of 40, but is."
        ),
        (.remembersHeadersByLength, "Sequentially: An image of 12×40 in RAW has a header that says 44×12."),
        (.remembersImagesByLength, "Sequentially: An image of 12×40 in RAW was decoded as an image of 44×12."),
        (.sharesPixelsWhenReading, "12×40 in RAW must be decoded correctly while another is decoded, but is not."),
        (.sharesTheHeader, "12×40 in RAW must be decoded correctly while another is decoded, but is not."),
        (.failsDuringAnotherCall, "12×40 in RAW must not affect another image that is decoded meanwhile, but does."),
        (.sharesPixelsInSlowCalls, "Concurrently: An image of"),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 7)) func eachFlawIsFound(
        flaw: RawImageCodec.Flaw,
        sentence: String
    ) async throws {
        let found = await violations(of: flaw, try Self.samples())
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test func flawAllowedByASettingIsNotReported() async throws {
        let partial = try Self.sample(12, 40, .left, hasLeadingHeader: false, keepsTruncatedRows: false)
        let whole = try Self.sample(4, 320, .up, isInterruptible: false)
        #expect(await violations(of: .needsAllBytesForHeader, [partial]) == [])
        #expect(await violations(of: .ignoresAllowedTruncation, [partial]) == [])
        #expect(await violations(of: .checksTheDeadlineOnlyAtTheStart, [whole]) == [])
    }

    @Test func sampleIsDecodedWhileAnImageIsEncoded() async throws {
        let conformance = ImageCodecConformance(
            roundTrips: [ImageRoundTrip(ImageEncoding(RawImageCodec.format))],
            samples: [try Self.sample(20, 24, .up)]
        )
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance.check(RawImageCodec(flaw: .sharesTheHeader))
        }
        let sentence = "An image of 20×24 in RAW must be decoded correctly while another is decoded, but is not."
        #expect(failure?.violations.contains(sentence) == true)
    }
}
