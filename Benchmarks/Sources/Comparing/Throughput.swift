#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The throughput of concurrent calls, and the processor time per call.
public struct Throughput: Sendable {
    /// Calls per second of elapsed time.
    public let callsPerSecond: Double
    /// Processor microseconds of this process per call.
    public let busy: Double

    /// Keeps a number of calls in flight for a while.
    ///
    /// - Parameters:
    ///   - inFlight: The number of concurrent calls.
    ///   - duration: The time during which new calls are started.
    ///   - call: The function to call.
    /// - Throws: The error of a call. A failed call makes the measurement meaningless.
    public init(
        inFlight: Int,
        for duration: Duration,
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws {
        let processors = clock()
        let start = ContinuousClock.now
        let end = start + duration
        let calls = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    var calls = 0
                    while .now < end {
                        try await call()
                        calls += 1
                    }
                    return calls
                }
            }
            return try await group.reduce(0, +)
        }
        callsPerSecond = Double(calls) / (start.duration(to: .now) / .seconds(1))
        // The C library counts in microseconds.
        busy = Double(clock() - processors) / Double(calls)
    }
}
