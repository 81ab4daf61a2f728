import Entities
import InwardRepositories

/// A user in the upstream's format.
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

/// The company of a ``UserDTO``.
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

/// The address of a ``UserDTO``.
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

/// The location of a ``PostalAddressDTO``, with its coordinates as strings.
struct GeographicPointDTO: Codable {
    let lat: FieldDTO<String>
    let lng: FieldDTO<String>

    init(_ point: GeographicPoint) {
        lat = FieldDTO(String(point.latitude))
        lng = FieldDTO(String(point.longitude))
    }

    func entity() throws(FieldError) -> GeographicPoint {
        let latitude = try Self.number(lat.value, field: "address.geo.lat")
        let longitude = try Self.number(lng.value, field: "address.geo.lng")
        do {
            return try GeographicPoint(latitude: latitude, longitude: longitude)
        } catch {
            throw FieldError(Self.field(of: error), "breaks a rule: \(error)")
        }
    }

    private static func number(_ text: String, field: String) throws(FieldError) -> Double {
        // `Double` also parses text that is not decimal, such as `nan` and hexadecimal numbers.
        guard text.utf8.allSatisfy("+-.0123456789eE".utf8.contains), let number = Double(text) else {
            throw FieldError(field, "is not a number: “\(text)”")
        }
        return number
    }

    private static func field(of error: GeographicPointError) -> String {
        switch error {
        case .latitudeOutOfRange: "address.geo.lat"
        case .longitudeOutOfRange: "address.geo.lng"
        }
    }
}
