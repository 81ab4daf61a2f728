/// The entries of a subject that follow one being settled, in their order. They are collected only if somebody asks for them.
public struct LaterEntries: Sendable {
    private let collect: @Sendable () -> [OutboxEntry]

    /// The entries, in their order.
    ///
    /// - Complexity: O(n) in their number.
    public var all: [OutboxEntry] { collect() }

    /// Makes a list of these entries, for a test of a settler.
    public init(_ entries: [OutboxEntry] = []) {
        self.init { entries }
    }

    init(_ collect: @escaping @Sendable () -> [OutboxEntry]) {
        self.collect = collect
    }
}
