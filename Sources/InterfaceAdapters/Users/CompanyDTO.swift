import Entities

/// A company within a ``UserDTO``.
struct CompanyDTO: Decodable {
    let name: String
    let catchPhrase: String
    let bs: String

    func entity() throws(FieldError) -> Company {
        do {
            return try Company(name: name, catchPhrase: catchPhrase, business: bs)
        } catch {
            throw FieldError("company.name", "breaks a rule: \(error)")
        }
    }
}
