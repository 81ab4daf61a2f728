#if Vips
import InwardImages
import InwardTesting
import InwardVips
import Testing

@Suite(.serialized, .timeLimit(.minutes(5)))
struct VipsImageCodecConformanceTests {
    // libvips encodes such small images in one or a few steps, so a call cannot be cancelled at every step.
    private static let roundTrips = [
        ImageRoundTrip(.png, longestSide: 2_147_483_647, isInterruptible: false),
        ImageRoundTrip(.jpeg(quality: 95), tolerance: 12, keepsAlpha: false, isInterruptible: false),
        // The directory, which is the header, follows the pixels.
        ImageRoundTrip(
            ImageEncoding(.tiff),
            hasLeadingHeader: false,
            keepsTruncatedRows: false,
            isInterruptible: false
        ),
        ImageRoundTrip(
            ImageEncoding(.webP, quality: 95),
            tolerance: 12,
            longestSide: 16_383,
            hasLeadingHeader: false,
            keepsTruncatedRows: false,
            isInterruptible: false
        ),
        // GIF has a palette of 256 colors, and libvips dithers.
        ImageRoundTrip(
            ImageEncoding(.gif),
            tolerance: 48,
            keepsAlpha: false,
            keepsOrientation: false,
            hasLeadingHeader: false,
            keepsTruncatedRows: false,
            isInterruptible: false
        ),
        ImageRoundTrip(
            ImageEncoding(.avif, quality: 90, subsampling: .none),
            tolerance: 12,
            keepsOrientation: false,
            longestSide: 32_768,
            hasLeadingHeader: false,
            keepsTruncatedRows: false,
            isInterruptible: false
        ),
        ImageRoundTrip(
            ImageEncoding(.heif, quality: 90, subsampling: .none),
            tolerance: 12,
            keepsOrientation: false,
            longestSide: 32_768,
            hasLeadingHeader: false,
            keepsTruncatedRows: false,
            isInterruptible: false
        ),
    ]

    @Test(arguments: roundTrips) func codecConforms(roundTrip: ImageRoundTrip) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        // Print the seed first, because a crash of the codec ends the process.
        print("The seed is \(seed).")
        let conformance = ImageCodecConformance(
            roundTrips: [roundTrip],
            seed: seed,
            // libvips holds thread-local state while it checks the deadline.
            nestsCalls: false
        )
        try await conformance.check(VipsImageCodec(effort: 0))
    }
}
#endif
