/// A customer of this service, who has nothing to do with the users of Inward.
public struct Customer: Sendable {
    /// The customer's number.
    public let number: Int
    /// What the customer is called.
    public let name: String

    /// Makes a customer.
    public init(number: Int, name: String) {
        self.number = number
        self.name = name
    }
}
