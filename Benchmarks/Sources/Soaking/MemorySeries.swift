/// A series of samples of the process's memory.
public struct MemorySeries {
    /// The allowed growth: a size in MiB, or a share of the first tenth, whichever is larger.
    public static let tolerance = (size: 16.0, share: 0.1)

    private var samples: [(time: Duration, size: Double)] = []

    /// Creates a series without samples.
    public init() {}

    /// Takes a sample.
    public mutating func sample(at time: Duration) {
        if let size = residentMemory() { samples.append((time, size)) }
    }

    /// Returns the peak in a tenth of the run, counted from 0.
    private func most(in part: Int, of length: Duration) -> Double? {
        samples.filter { $0.time >= length * part / 10 && $0.time < length * (part + 1) / 10 }.map(\.size).max()
    }

    /// Returns the peak in each tenth of a run.
    public func tenths(of length: Duration) -> [Double] { (0..<10).compactMap { most(in: $0, of: length) } }

    /// Returns a finding if memory has grown by more than the tolerance since the first tenth of the run, and `nil` otherwise.
    public func finding(in length: Duration) -> String? {
        let tenths = tenths(of: length)
        guard let first = tenths.first, let last = tenths.last, let end = samples.last?.size else { return nil }
        let growth = max(last, end) - first
        guard growth > max(Self.tolerance.size, first * Self.tolerance.share) else { return nil }
        return "Memory has grown by \(growth.rounded()) MiB since the first tenth of the run."
    }
}
