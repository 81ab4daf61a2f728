/// What a customer has ordered.
public struct Order: Identifiable, Hashable, Sendable {
    /// The number of the order.
    public let id: Int
    /// What was ordered.
    public let article: String
    /// How many of it.
    public let count: Int

    /// Makes an order; `nil` if nothing is ordered.
    public init?(id: Int, article: String, count: Int) {
        guard !article.isEmpty, count > 0 else { return nil }
        self.id = id
        self.article = article
        self.count = count
    }
}
