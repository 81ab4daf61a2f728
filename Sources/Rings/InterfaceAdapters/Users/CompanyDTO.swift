import Entities
import InwardRepositories

/// A company within a ``UserDTO``.
struct CompanyDTO: Codable {
    let name: FieldDTO<String>
    let catchPhrase: FieldDTO<String>
    let bs: FieldDTO<String>

    init(_ company: Company) {
        name = FieldDTO(company.name)
        catchPhrase = FieldDTO(company.catchPhrase)
        bs = FieldDTO(company.business)
    }

    func entity() throws(FieldError) -> Company {
        do {
            return try Company(name: name.value, catchPhrase: catchPhrase.value, business: bs.value)
        } catch {
            throw FieldError("company.name", "breaks a rule: \(error)")
        }
    }
}
