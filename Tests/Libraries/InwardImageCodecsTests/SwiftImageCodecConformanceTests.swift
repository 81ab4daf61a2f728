import InwardImageCodecs
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SwiftImageCodecConformanceTests {
    private static let roundTrips = [ImageRoundTrip.png, .jpeg]

    @Test(arguments: roundTrips) func itConforms(roundTrip: ImageRoundTrip) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        // Printed beforehand, because what is not caught ends the process.
        print("The seed is \(seed).")
        try await ImageCodecConformance(roundTrips: [roundTrip], seed: seed).check(SwiftImageCodec())
    }
}
