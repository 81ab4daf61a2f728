/// How far something is, drawn as a bar of characters and said in numbers.
public struct ProgressBar: Hashable, Sendable, CustomStringConvertible {
    private static let width = 24

    private let done: Int
    private let total: Int

    /// Makes a bar; more than all of it is all, and less than nothing is nothing.
    public init(done: Int, total: Int) {
        self.total = max(0, total)
        self.done = min(max(0, done), self.total)
    }

    /// The bar and the numbers, such as `████████░░░░░░░░░░░░░░░░ 12 of 36`.
    public var description: String {
        let filled = total == 0 ? Self.width : Int(Double(Self.width) * Double(done) / Double(total))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        return "\(bar) \(done) of \(total)"
    }
}
