import Entities

/// An address within a ``UserDTO``.
struct PostalAddressDTO: Decodable {
    let street: String
    let suite: String
    let city: String
    let zipcode: String
    let geo: GeographicPointDTO

    func entity() throws(FieldError) -> PostalAddress {
        PostalAddress(street: street, suite: suite, city: city, zipcode: zipcode, location: try geo.entity())
    }
}
