/// A customer of this service. It is unrelated to Inward's `User`.
public struct Customer: Sendable {
    /// The customer's number.
    public let number: Int
    /// The customer's name.
    public let name: String

    /// Creates a customer.
    public init(number: Int, name: String) {
        self.number = number
        self.name = name
    }
}
