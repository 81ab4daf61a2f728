/// What a customer bought.
public struct Order: Hashable, Sendable {
    /// Who bought it.
    public let customer: Customer
    /// What it costs, in cents.
    public let cents: Int

    /// An order.
    public init(customer: Customer, cents: Int) {
        self.customer = customer
        self.cents = cents
    }
}
