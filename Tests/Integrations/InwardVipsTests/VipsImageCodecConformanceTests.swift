#if Vips
import InwardImages
import InwardTesting
import InwardVips
import Testing

@Suite(.serialized, .timeLimit(.minutes(5)))
struct VipsImageCodecConformanceTests {
    // libvips encodes so small an image in one piece, or in a few as it happens, so none is interruptible at each step.
    private static let roundTrips = [
        ImageRoundTrip(.png, longestSide: 2_147_483_647, isInterruptible: false),
        ImageRoundTrip(.jpeg(quality: 95), tolerance: 12, keepsAlpha: false, isInterruptible: false),
        // The directory follows the pixels.
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
        // Colours are chosen from 256, and mixed of neighbours.
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

    @Test(arguments: roundTrips) func itConforms(roundTrip: ImageRoundTrip) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        // Printed beforehand, because what is not caught ends the process.
        print("The seed is \(seed).")
        let conformance = ImageCodecConformance(
            roundTrips: [roundTrip],
            seed: seed,
            // libvips keeps state of the thread while it looks at the deadline.
            nestsCalls: false
        )
        try await conformance.check(VipsImageCodec(effort: 0))
    }
}
#endif
