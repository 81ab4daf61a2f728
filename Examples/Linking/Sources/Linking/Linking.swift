import Entities
import InwardEntities
import UseCases

@main
struct Linking {
    static func main() async throws {
        let customers = [Customer(number: 2, name: "Grace Hopper"), Customer(number: 1, name: "Ada Lovelace")]
        let listUsers = ListUsers(users: CustomerRepository(customers: customers))
        for user in try await listUsers().value {
            print("\(user.id) \(user.name)")
        }
    }
}
