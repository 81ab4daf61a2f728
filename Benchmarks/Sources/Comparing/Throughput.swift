#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How many calls end in a second, and what each costs.
public struct Throughput: Sendable {
    /// Calls in a second of the time that passes.
    public let callsPerSecond: Double
    /// Microseconds that the processors are busy with a call in this process.
    public let busy: Double

    /// Keeps calls of a function under way for a while.
    ///
    /// - Parameters:
    ///   - inFlight: How many calls are under way at a time.
    ///   - duration: How long new ones are begun.
    ///   - call: What is called.
    /// - Throws: what a call throws; one that fails says nothing about the others.
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
