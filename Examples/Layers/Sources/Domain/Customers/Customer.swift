/// Who buys.
public struct Customer: Hashable, Sendable {
    /// The customer's name.
    public let name: String

    /// A customer.
    public init(name: String) {
        self.name = name
    }
}
