public import Entities
public import InwardCore
public import InwardRepositories
public import UseCases

/// An order as the upstream sends it.
struct OrderDTO: RecordDTO {
    static let listName = "orders"

    let id: Int
    let article: String
    let count: Int

    init(_ order: Order) {
        id = order.id
        article = order.article
        count = order.count
    }

    func entity() throws(FieldError) -> Order {
        guard let order = Order(id: id, article: article, count: count) else {
            throw FieldError("count", "must be at least 1")
        }
        return order
    }
}

/// A repository that reads orders from an upstream. It caches them in memory, and coalesces concurrent reads into one request.
public struct UpstreamOrderRepository: OrderRepository {
    private let repository: Repository<Order>

    /// Creates a repository for an upstream.
    public init(upstream: Upstream) {
        repository = Repository(Endpoint(OrderDTO.self, at: "orders"), upstream: upstream)
    }

    /// Returns all orders. Damaged records are left out, and the reading reports them.
    public func orders(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Order]> {
        try await repository.entities(.all, policy)
    }
}
