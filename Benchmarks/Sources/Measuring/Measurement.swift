import AllocationCounter
import Comparing

/// What one call costs: medians over several rounds of many calls.
public struct Measurement: Sendable {
    /// Nanoseconds that a processor is busy with a call. What others do on the machine counts less in it than in the time that
    /// passes.
    public let nanoseconds: Double
    /// Nanoseconds that pass during a call.
    public let elapsed: Double
    /// Blocks that a call allocates.
    public let allocations: Double

    /// Calls a function many times, one call after the other.
    public init(rounds: Int = 11, calls: Int = 100_000, _ call: () async throws -> Void) async rethrows {
        var busy: [Double] = []
        var elapsed: [Double] = []
        var allocations: [Double] = []
        for _ in 0..<calls / 10 { try await call() }
        for _ in 0..<rounds {
            let allocated = allocation_count()
            let processor = processor_nanoseconds()
            let start = ContinuousClock.now
            for _ in 0..<calls { try await call() }
            elapsed.append(start.duration(to: .now) / .nanoseconds(1) / Double(calls))
            busy.append(Double(processor_nanoseconds() - processor) / Double(calls))
            allocations.append(Double(allocation_count() - allocated) / Double(calls))
        }
        nanoseconds = busy.median
        self.elapsed = elapsed.median
        self.allocations = allocations.median
    }
}
