import Entities
import InwardRepositories

/// A user as an upstream writes it.
struct UserDTO: RecordDTO {
    static let listName = "users"

    let id: FieldDTO<Int>
    let name: FieldDTO<String>
    let username: FieldDTO<String>
    let email: FieldDTO<String>
    let address: PostalAddressDTO
    let phone: FieldDTO<String>
    let website: FieldDTO<String>
    let company: CompanyDTO

    init(_ user: User) {
        id = FieldDTO(user.id.rawValue)
        name = FieldDTO(user.name)
        username = FieldDTO(user.username)
        email = FieldDTO(user.email.description)
        address = PostalAddressDTO(user.address)
        phone = FieldDTO(user.phone)
        website = FieldDTO(user.website)
        company = CompanyDTO(user.company)
    }

    func entity() throws(FieldError) -> User {
        let address = try address.entity()
        let company = try company.entity()
        let email: EmailAddress
        do {
            email = try EmailAddress(self.email.value)
        } catch {
            throw FieldError("email", "breaks a rule: \(error)")
        }
        do {
            return try User(
                id: User.ID(id.value),
                name: name.value,
                username: username.value,
                email: email,
                phone: phone.value,
                website: website.value,
                address: address,
                company: company
            )
        } catch {
            throw FieldError(Self.field(of: error), "breaks a rule: \(error)")
        }
    }

    private static func field(of error: UserError) -> String {
        switch error {
        case .blankName: "name"
        case .blankUsername, .usernameIsNotOneWord: "username"
        }
    }
}
