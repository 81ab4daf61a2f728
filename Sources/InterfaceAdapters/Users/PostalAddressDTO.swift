import Entities

/// An address within a ``UserDTO``.
struct PostalAddressDTO: Decodable {
    let street: FieldDTO<String>
    let suite: FieldDTO<String>
    let city: FieldDTO<String>
    let zipcode: FieldDTO<String>
    let geo: GeographicPointDTO

    func entity() throws(FieldError) -> PostalAddress {
        PostalAddress(
            street: street.value,
            suite: suite.value,
            city: city.value,
            zipcode: zipcode.value,
            location: try geo.entity()
        )
    }
}
