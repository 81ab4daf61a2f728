import Entities

/// A company within a ``UserDTO``.
struct CompanyDTO: Decodable {
    let name: FieldDTO<String>
    let catchPhrase: FieldDTO<String>
    let bs: FieldDTO<String>

    func entity() throws(FieldError) -> Company {
        do {
            return try Company(name: name.value, catchPhrase: catchPhrase.value, business: bs.value)
        } catch {
            throw FieldError("company.name", "breaks a rule: \(error)")
        }
    }
}
