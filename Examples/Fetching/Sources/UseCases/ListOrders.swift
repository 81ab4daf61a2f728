public import Entities
public import InwardCore

/// The port through which the orders come.
public protocol OrderRepository: Sendable {
    /// All orders.
    func orders(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Order]>
}

/// Lists the orders, the largest first.
public struct ListOrders: Sendable {
    private let orders: any OrderRepository

    /// Makes the use case over the repository that has the orders.
    public init(orders: any OrderRepository) {
        self.orders = orders
    }

    /// The orders.
    public func callAsFunction(_ policy: ReadPolicy = .cacheFirst) async throws(RepositoryError) -> Reading<[Order]> {
        try await orders.orders(policy).map { $0.sorted { $0.count > $1.count } }
    }
}
