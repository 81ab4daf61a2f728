import Entities
import InwardCore
import InwardEntities
import UseCases

/// A repository that provides the service's customers to Inward's use cases as users.
struct CustomerRepository: UserRepository {
    let customers: [Customer]

    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        Reading(customers.compactMap(Self.user), origin: .memory)
    }

    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        guard let customer = customers.first(where: { $0.number == id.rawValue }), let user = Self.user(customer) else {
            throw RepositoryError(.notFound, request: "Customer \(id)", explanation: "is not known here")
        }
        return Reading(user, origin: .memory)
    }

    private static func user(_ customer: Customer) -> User? {
        try? User(
            id: User.ID(customer.number),
            name: customer.name,
            username: "customer\(customer.number)",
            email: EmailAddress("customer\(customer.number)@example.org"),
            phone: "",
            website: "",
            address: PostalAddress(
                street: "",
                suite: "",
                city: "",
                zipcode: "",
                location: GeographicPoint(latitude: 0, longitude: 0)
            ),
            company: Company(name: "None", catchPhrase: "", business: "")
        )
    }
}
