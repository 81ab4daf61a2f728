import InwardImageCodecs
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SwiftImageCodecConformanceTests {
    private static let roundTrips = [ImageRoundTrip.png, .jpeg]

    @Test(arguments: roundTrips) func codecConforms(roundTrip: ImageRoundTrip) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        // Print the seed first, because a crash of the codec ends the process.
        print("The seed is \(seed).")
        try await ImageCodecConformance(roundTrips: [roundTrip], seed: seed).check(SwiftImageCodec())
    }
}
