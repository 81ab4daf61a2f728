/// An order.
public struct Order: Hashable, Sendable {
    /// The customer who bought it.
    public let customer: Customer
    /// The price in cents.
    public let cents: Int

    /// Creates an order.
    public init(customer: Customer, cents: Int) {
        self.customer = customer
        self.cents = cents
    }
}
