public import Entities
public import InwardCore

/// The port through which the use cases read orders.
public protocol OrderRepository: Sendable {
    /// Returns all orders.
    func orders(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Order]>
}

/// A use case that lists all orders, the largest first.
public struct ListOrders: Sendable {
    private let orders: any OrderRepository

    /// Creates the use case with a repository.
    public init(orders: any OrderRepository) {
        self.orders = orders
    }

    /// Returns all orders, the largest first.
    public func callAsFunction(_ policy: ReadPolicy = .cacheFirst) async throws(RepositoryError) -> Reading<[Order]> {
        try await orders.orders(policy).map { $0.sorted { $0.count > $1.count } }
    }
}
