/// A customer.
public struct Customer: Hashable, Sendable {
    /// The customer's name.
    public let name: String

    /// Creates a customer.
    public init(name: String) {
        self.name = name
    }
}
