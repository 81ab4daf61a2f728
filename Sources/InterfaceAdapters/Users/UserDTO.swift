import Entities

/// A user as an upstream writes it.
struct UserDTO: RecordDTO {
    static let listName = "users"

    let id: WholeNumberDTO
    let name: String
    let username: String
    let email: String
    let address: PostalAddressDTO
    let phone: String
    let website: String
    let company: CompanyDTO

    func entity() throws(FieldError) -> User {
        let address = try address.entity()
        let company = try company.entity()
        let email: EmailAddress
        do {
            email = try EmailAddress(self.email)
        } catch {
            throw FieldError("email", "breaks a rule: \(error)")
        }
        do {
            return try User(
                id: User.ID(id.value),
                name: name,
                username: username,
                email: email,
                phone: phone,
                website: website,
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
