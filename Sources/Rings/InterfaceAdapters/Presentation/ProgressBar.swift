/// A progress bar made of characters, followed by the numbers.
///
/// ```swift
/// print(ProgressBar(done: 12, total: 36))  // ████████░░░░░░░░░░░░░░░░ 12 of 36
/// ```
public struct ProgressBar: Hashable, Sendable, CustomStringConvertible {
    private static let width = 24

    private let done: Int
    private let total: Int

    /// Creates a bar. `done` is clamped to the range from zero to `total`.
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
