/// What a ``ChaosDataFetcher`` did so far.
public struct ChaosCounts: Hashable, Sendable {
    /// How many requests came.
    public internal(set) var requests = 0
    /// How many of them were handed to the base.
    public internal(set) var sent = 0
    /// How many took longer than the others by plan, and were waited for.
    public internal(set) var slow = 0
    /// How many were cancelled or out of time before anything else became of them. Those that are never answered end so.
    public internal(set) var abandoned = 0
    private var faults: [ChaosFault: Int] = [:]

    /// How many met a fault, which is not counted before it is met.
    public subscript(fault: ChaosFault) -> Int { faults[fault] ?? 0 }

    /// How many met any fault.
    public var faulty: Int { faults.values.reduce(0, +) }

    mutating func add(_ fate: ChaosFate) {
        if let fault = fate.fault { faults[fault, default: 0] += 1 }
        if fate.isSlow { slow += 1 }
    }
}
