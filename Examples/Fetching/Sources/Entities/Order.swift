/// An order of a customer.
public struct Order: Identifiable, Hashable, Sendable {
    /// The number of the order.
    public let id: Int
    /// The name of the article.
    public let article: String
    /// The number of articles, at least 1.
    public let count: Int

    /// Creates an order, or returns `nil` if the name of the article is empty or the number is less than 1.
    public init?(id: Int, article: String, count: Int) {
        guard !article.isEmpty, count > 0 else { return nil }
        self.id = id
        self.article = article
        self.count = count
    }
}
