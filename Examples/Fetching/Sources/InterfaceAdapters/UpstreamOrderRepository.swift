public import Entities
public import InwardCore
public import InwardRepositories
public import UseCases

/// An order as the upstream sends it.
struct OrderDTO: RecordDTO {
    static let listName = "orders"

    let id: FieldDTO<Int>
    let article: FieldDTO<String>
    let count: FieldDTO<Int>

    init(_ order: Order) {
        id = FieldDTO(order.id)
        article = FieldDTO(order.article)
        count = FieldDTO(order.count)
    }

    func entity() throws(FieldError) -> Order {
        guard let order = Order(id: id.value, article: article.value, count: count.value) else {
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
