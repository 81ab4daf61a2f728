/// The throughput of our implementation compared with that of its underlying client. Both are measured in turn, over several
/// rounds.
public struct ThroughputComparison: Sendable {
    /// The number of concurrent calls.
    public let inFlight: Int
    /// Calls per second of the underlying client.
    public let alone: Double
    /// Calls per second of our implementation.
    public let ours: Double
    /// Processor microseconds per call of the underlying client. Other load on the machine affects them less than the calls per
    /// second.
    public let busyAlone: Double
    /// Processor microseconds per call of our implementation.
    public let busyOurs: Double
    /// The throughput `ours` divided by `alone`: the median of the ratios of all rounds. A temporary slowdown of the machine
    /// affects both sides of a round.
    public let ratio: Double

    /// Measures both in turn, after a warm-up round.
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
