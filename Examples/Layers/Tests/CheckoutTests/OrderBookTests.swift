import Domain
import Testing

@testable import Checkout

struct OrderBookTests {
    @Test func totalIncludesOnlyTheCustomersOrders() {
        let book = OrderBook()
        book.add(Order(customer: Customer(name: "Ada"), cents: 100))
        book.add(Order(customer: Customer(name: "Grace"), cents: 50))
        book.add(Order(customer: Customer(name: "Ada"), cents: 25))
        #expect(book.total(of: Customer(name: "Ada")) == 125)
    }
}
