import Checkout
import Domain

/// Takes one order down and says what its customer spent.
@main
struct Shop {
    static func main() {
        let ada = Customer(name: "Ada")
        let book = OrderBook()
        book.add(Order(customer: ada, cents: 1250))
        print("\(ada.name) spent \(book.total(of: ada)) cents.")
    }
}
