import AllocationCounter
import Comparing

/// The cost of one call: medians over several rounds of many calls.
public struct Measurement: Sendable {
    /// Processor nanoseconds per call. Other load on the machine affects them less than the elapsed time.
    public let nanoseconds: Double
    /// Elapsed nanoseconds per call.
    public let elapsed: Double
    /// Allocated blocks per call.
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
