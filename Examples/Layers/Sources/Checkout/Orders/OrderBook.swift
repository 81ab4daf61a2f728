public import Domain
import Synchronization

/// The orders of a day.
public final class OrderBook: Sendable {
    private let orders = Mutex<[Order]>([])

    /// Creates an empty book.
    public init() {}

    /// Adds an order.
    public func add(_ order: Order) {
        orders.withLock { $0.append(order) }
    }

    /// Returns the total of a customer's orders in cents.
    public func total(of customer: Customer) -> Int {
        orders.withLock { $0.filter { $0.customer == customer }.map(\.cents).reduce(0, +) }
    }
}
