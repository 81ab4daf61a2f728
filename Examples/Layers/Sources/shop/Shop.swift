import Checkout
import Domain

/// Adds one order, and prints how much its customer spent.
@main
struct Shop {
    static func main() {
        let ada = Customer(name: "Ada")
        let book = OrderBook()
        book.add(Order(customer: ada, cents: 1250))
        print("\(ada.name) spent \(book.total(of: ada)) cents.")
    }
}
