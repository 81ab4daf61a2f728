import Entities
import InwardRepositories

/// An address within a ``UserDTO``.
struct PostalAddressDTO: Codable {
    let street: FieldDTO<String>
    let suite: FieldDTO<String>
    let city: FieldDTO<String>
    let zipcode: FieldDTO<String>
    let geo: GeographicPointDTO

    init(_ address: PostalAddress) {
        street = FieldDTO(address.street)
        suite = FieldDTO(address.suite)
        city = FieldDTO(address.city)
        zipcode = FieldDTO(address.zipcode)
        geo = GeographicPointDTO(address.location)
    }

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
