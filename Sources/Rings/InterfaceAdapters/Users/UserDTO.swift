import Entities
import InwardRepositories

/// A user in the upstream's format.
struct UserDTO: RecordDTO {
    static let listName = "users"

    let id: Int
    let name: String
    let username: String
    let email: String
    let address: PostalAddressDTO
    let phone: String
    let website: String
    let company: CompanyDTO

    init(_ user: User) {
        id = user.id.rawValue
        name = user.name
        username = user.username
        email = user.email.description
        address = PostalAddressDTO(user.address)
        phone = user.phone
        website = user.website
        company = CompanyDTO(user.company)
    }

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
                id: User.ID(id),
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

/// The company of a ``UserDTO``.
struct CompanyDTO: Codable {
    let name: String
    let catchPhrase: String
    let bs: String

    init(_ company: Company) {
        name = company.name
        catchPhrase = company.catchPhrase
        bs = company.business
    }

    func entity() throws(FieldError) -> Company {
        do {
            return try Company(name: name, catchPhrase: catchPhrase, business: bs)
        } catch {
            throw FieldError("company.name", "breaks a rule: \(error)")
        }
    }
}

/// The address of a ``UserDTO``.
struct PostalAddressDTO: Codable {
    let street: String
    let suite: String
    let city: String
    let zipcode: String
    let geo: GeographicPointDTO

    init(_ address: PostalAddress) {
        street = address.street
        suite = address.suite
        city = address.city
        zipcode = address.zipcode
        geo = GeographicPointDTO(address.location)
    }

    func entity() throws(FieldError) -> PostalAddress {
        PostalAddress(
            street: street,
            suite: suite,
            city: city,
            zipcode: zipcode,
            location: try geo.entity()
        )
    }
}

/// The location of a ``PostalAddressDTO``, with its coordinates as strings.
struct GeographicPointDTO: Codable {
    let lat: String
    let lng: String

    init(_ point: GeographicPoint) {
        lat = String(point.latitude)
        lng = String(point.longitude)
    }

    func entity() throws(FieldError) -> GeographicPoint {
        let latitude = try Self.number(lat, field: "address.geo.lat")
        let longitude = try Self.number(lng, field: "address.geo.lng")
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
