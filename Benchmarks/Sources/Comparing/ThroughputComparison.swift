/// The throughput of something beside that of what it is made of, each measured in turn: medians over several rounds.
public struct ThroughputComparison: Sendable {
    /// How many calls were under way at a time.
    public let inFlight: Int
    /// Calls in a second of what the other one is made of.
    public let alone: Double
    /// Calls in a second of what is compared.
    public let ours: Double
    /// Microseconds that the processors are busy with a call of what the other one is made of. What others do on the machine
    /// counts less in it than in the calls in a second.
    public let busyAlone: Double
    /// Microseconds that the processors are busy with a call of what is compared.
    public let busyOurs: Double
    /// How many times `alone` the throughput `ours` is: of the ratios of each round to the one beside it, the median. What
    /// slows the machine down for a while slows both of them down.
    public let ratio: Double

    /// Measures both in turn, after a while in which nothing counts.
    public init(
        inFlight: Int,
        rounds: Int = 9,
        round: Duration = .seconds(1),
        alone: @escaping @Sendable () async throws -> Void,
        ours: @escaping @Sendable () async throws -> Void
    ) async throws {
        var samples: [(alone: Throughput, ours: Throughput)] = []
        for number in 0...rounds {
            let alone = try await Throughput(inFlight: inFlight, for: round, alone)
            let ours = try await Throughput(inFlight: inFlight, for: round, ours)
            if number > 0 { samples.append((alone, ours)) }
        }
        self.inFlight = inFlight
        self.alone = samples.map(\.alone.callsPerSecond).median
        self.ours = samples.map(\.ours.callsPerSecond).median
        busyAlone = samples.map(\.alone.busy).median
        busyOurs = samples.map(\.ours.busy).median
        ratio = samples.map { $0.ours.callsPerSecond / $0.alone.callsPerSecond }.median
    }
}
