public import Entities
public import InwardCore
public import InwardRepositories
public import UseCases

/// An order as the upstream writes it.
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

/// Gets orders from an upstream. They are kept in memory, and one request serves all who ask at once.
public struct UpstreamOrderRepository: OrderRepository {
    private let repository: Repository<Order>

    /// Makes a repository of the orders that an upstream has.
    public init(upstream: Upstream) {
        repository = Repository(Endpoint(OrderDTO.self, at: "orders"), upstream: upstream)
    }

    /// All orders, without the damaged records, which the reading names.
    public func orders(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Order]> {
        try await repository.entities(.all, policy)
    }
}
