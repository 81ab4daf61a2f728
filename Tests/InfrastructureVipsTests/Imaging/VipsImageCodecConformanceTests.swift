#if Vips
import Entities
import InfrastructureVips
import InwardTesting
import Testing
import UseCases

@Suite(.serialized, .timeLimit(.minutes(5)))
struct VipsImageCodecConformanceTests {
    private static let roundTrips = [
        ImageRoundTrip.png,
        ImageRoundTrip.jpeg,
        ImageRoundTrip(ImageEncoding(.tiff)),
        ImageRoundTrip(ImageEncoding(.webP, quality: 95), tolerance: 12),
        // Colours are chosen from 256, and mixed of neighbours.
        ImageRoundTrip(ImageEncoding(.gif), tolerance: 48, keepsAlpha: false, keepsOrientation: false),
        ImageRoundTrip(ImageEncoding(.avif, quality: 90, subsampling: .none), tolerance: 12, keepsOrientation: false),
        ImageRoundTrip(ImageEncoding(.heif, quality: 90, subsampling: .none), tolerance: 12, keepsOrientation: false),
    ]

    @Test(arguments: roundTrips) func itConforms(roundTrip: ImageRoundTrip) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        // Printed beforehand, because what is not caught ends the process.
        print("The seed is \(seed).")
        let conformance = ImageCodecConformance(roundTrips: [roundTrip], seed: seed)
        try await conformance.check(VipsImageCodec(effort: 0))
    }
}
#endif
