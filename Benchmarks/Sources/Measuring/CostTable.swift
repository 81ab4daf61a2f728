/// A table of costs above that of a base.
public struct CostTable: Sendable, CustomStringConvertible {
    private struct Row: Sendable {
        let name: String
        let limit: Double?
        let cost: Measurement
    }

    private let base: Measurement
    private var rows: [Row] = []

    /// Creates a table with a base.
    public init(base: Measurement) {
        self.base = base
    }

    /// Adds a row.
    public mutating func add(_ name: String, atMost limit: Double?, _ cost: Measurement) {
        rows.append(Row(name: name, limit: limit, cost: cost))
    }

    /// The table: processor nanoseconds, elapsed nanoseconds, and allocations, each above the base.
    public var description: String {
        let header =
            "| over \(Int(base.nanoseconds.rounded())) ns | ns | at most | elapsed | allocations |\n|---|---|---|---|---|"
        let lines = rows.map { row in
            let limit = row.limit.map { "\(Int($0))" } ?? ""
            let busy = Int((row.cost.nanoseconds - base.nanoseconds).rounded())
            let elapsed = Int((row.cost.elapsed - base.elapsed).rounded())
            let allocations = (row.cost.allocations - base.allocations).rounded()
            return "| \(row.name) | \(busy) | \(limit) | \(elapsed) | \(Int(allocations)) |"
        }
        return ([header] + lines).joined(separator: "\n")
    }
}
