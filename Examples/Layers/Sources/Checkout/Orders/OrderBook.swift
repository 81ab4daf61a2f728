public import Domain
import Synchronization

/// The orders of a day.
public final class OrderBook: Sendable {
    private let orders = Mutex<[Order]>([])

    /// An empty book.
    public init() {}

    /// Takes an order down.
    public func add(_ order: Order) {
        orders.withLock { $0.append(order) }
    }

    /// What a customer spent, in cents.
    public func total(of customer: Customer) -> Int {
        orders.withLock { $0.filter { $0.customer == customer }.map(\.cents).reduce(0, +) }
    }
}
