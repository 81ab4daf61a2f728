/// A person who writes posts.
///
/// A user is always valid: the name is not blank, and the username is one word. ``EmailAddress``, ``GeographicPoint`` and
/// ``Company`` check their own rules.
///
/// ```swift
/// let user = try User(
///     id: User.ID(7),
///     name: "Ada Lovelace",
///     username: "ada",
///     email: EmailAddress("ada@example.org"),
///     phone: "+44 20 7946 0000",
///     website: "ada.example.org",
///     address: PostalAddress(
///         street: "12 St James's Square",
///         suite: "",
///         city: "London",
///         zipcode: "SW1Y 4JH",
///         location: GeographicPoint(latitude: 51.51, longitude: -0.13)
///     ),
///     company: Company(name: "Analytical Engines", catchPhrase: "We weave numbers.", business: "Computing")
/// )
/// ```
public struct User: Hashable, Identifiable, Sendable {
    /// The identity of the user.
    public let id: ID
    /// The full name, without leading or trailing whitespace. Never empty.
    public let name: String
    /// The username: one word, never empty.
    public let username: String
    /// The email address.
    public let email: EmailAddress
    /// The telephone number as the user wrote it. It is not validated, because numbering plans differ by country.
    public let phone: String
    /// The website as the user wrote it, with or without a scheme. It is not validated.
    public var website: String
    /// The postal address.
    public let address: PostalAddress
    /// The company that the user works for.
    public let company: Company

    /// Creates a user, with name and username trimmed of surrounding whitespace.
    ///
    /// - Throws: ``UserError/blankName`` if the name is empty or only whitespace, ``UserError/blankUsername`` if the username
    ///   is, or ``UserError/usernameIsNotOneWord(_:)`` if the username contains whitespace.
    public init(
        id: ID,
        name: String,
        username: String,
        email: EmailAddress,
        phone: String,
        website: String,
        address: PostalAddress,
        company: Company
    ) throws(UserError) {
        let name = name.trimmingWhitespace()
        let username = username.trimmingWhitespace()
        guard !name.isEmpty else { throw .blankName }
        guard !username.isEmpty else { throw .blankUsername }
        guard !username.contains(where: \.isWhitespace) else { throw .usernameIsNotOneWord(username) }
        self.id = id
        self.name = name
        self.username = username
        self.email = email
        self.phone = phone
        self.website = website
        self.address = address
        self.company = company
    }
}

extension User {
    /// The identity of a user, assigned by the system that stores it.
    public struct ID: Hashable, Comparable, Sendable, LosslessStringConvertible {
        /// The numeric value. Any number is valid.
        public let rawValue: Int

        /// Creates an identity from a number.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Creates an identity from its description; `nil` if the text is not a decimal integer.
        public init?(_ description: String) {
            guard let rawValue = Int(description) else { return nil }
            self.rawValue = rawValue
        }

        /// Compares identities by number.
        public static func < (left: Self, right: Self) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The number as a decimal integer.
        public var description: String { String(rawValue) }
    }
}

/// A violated rule of ``User``.
///
/// ```swift
/// func field(of error: UserError) -> String {
///     switch error {
///     case .blankName: "name"
///     case .blankUsername, .usernameIsNotOneWord: "username"
///     }
/// }
/// ```
public enum UserError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is empty or only whitespace.
    case blankName
    /// The username is empty or only whitespace.
    case blankUsername
    /// The given username contains whitespace.
    case usernameIsNotOneWord(String)

    /// The rule as a sentence to show to a person.
    public var description: String {
        switch self {
        case .blankName: "A user's name must not be blank."
        case .blankUsername: "A username must not be blank."
        case .usernameIsNotOneWord(let username): "A username must be one word, but “\(username)” is not."
        }
    }
}

/// The company that a user works for.
///
/// ```swift
/// let company = try Company(name: "Analytical Engines", catchPhrase: "We weave numbers.", business: "Computing")
/// ```
public struct Company: Hashable, Sendable {
    /// The name of the company. Never empty.
    public let name: String
    /// The slogan of the company.
    public let catchPhrase: String
    /// The line of business.
    public let business: String

    /// Creates a company, with its name trimmed of surrounding whitespace.
    ///
    /// - Throws: ``CompanyError/blankName`` if the name is empty or only whitespace.
    public init(name: String, catchPhrase: String, business: String) throws(CompanyError) {
        let name = name.trimmingWhitespace()
        guard !name.isEmpty else { throw .blankName }
        self.name = name
        self.catchPhrase = catchPhrase
        self.business = business
    }
}

/// A violated rule of ``Company``.
///
/// ```swift
/// do {
///     _ = try Company(name: " ", catchPhrase: "We weave numbers.", business: "Computing")
/// } catch {
///     print(error)  // A company's name must not be blank.
/// }
/// ```
public enum CompanyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is empty or only whitespace.
    case blankName

    /// The rule as a sentence to show to a person.
    public var description: String {
        switch self {
        case .blankName: "A company's name must not be blank."
        }
    }
}

extension String {
    /// Returns this text without leading or trailing whitespace and line breaks.
    func trimmingWhitespace() -> String {
        // Most texts begin and end with other characters of ASCII, which tells without a search by the rules of Unicode.
        let visible: ClosedRange<UInt8> = 0x21...0x7E
        if let first = utf8.first, let last = utf8.last, visible.contains(first), visible.contains(last) { return self }
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}

/// A postal address with its geographic location.
///
/// ```swift
/// let address = try PostalAddress(
///     street: "12 St James's Square",
///     suite: "",
///     city: "London",
///     zipcode: "SW1Y 4JH",
///     location: GeographicPoint(latitude: 51.51, longitude: -0.13)
/// )
/// ```
///
/// The lines are not validated: address formats differ by country, and some have no street or postal code.
public struct PostalAddress: Hashable, Sendable {
    /// The street, with the house number if there is one.
    public let street: String
    /// The part of the building, such as an apartment.
    public let suite: String
    /// The city, town or village.
    public let city: String
    /// The postal code.
    public let zipcode: String
    /// The geographic location of the address.
    public let location: GeographicPoint

    /// Creates an address from its lines and its location.
    public init(street: String, suite: String, city: String, zipcode: String, location: GeographicPoint) {
        self.street = street
        self.suite = suite
        self.city = city
        self.zipcode = zipcode
        self.location = location
    }
}

/// A point on Earth in WGS 84 coordinates.
///
/// ```swift
/// let london = try GeographicPoint(latitude: 51.51, longitude: -0.13)
/// ```
public struct GeographicPoint: Hashable, Sendable {
    /// Degrees north of the equator, from -90 to 90.
    public let latitude: Double
    /// Degrees east of Greenwich, from -180 to 180.
    public let longitude: Double

    /// Creates a point from its coordinates in degrees.
    ///
    /// - Throws: A ``GeographicPointError`` if a coordinate is outside its range, infinite or NaN.
    public init(latitude: Double, longitude: Double) throws(GeographicPointError) {
        guard (-90...90).contains(latitude) else { throw .latitudeOutOfRange(latitude) }
        guard (-180...180).contains(longitude) else { throw .longitudeOutOfRange(longitude) }
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An invalid coordinate of a ``GeographicPoint``.
///
/// ```swift
/// do {
///     _ = try GeographicPoint(latitude: 91, longitude: 0)
/// } catch {
///     print(error)  // A latitude must be from -90 to 90 degrees, but this one is 91.0.
/// }
/// ```
public enum GeographicPointError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The latitude, in degrees, is outside -90 to 90.
    case latitudeOutOfRange(Double)
    /// The longitude, in degrees, is outside -180 to 180.
    case longitudeOutOfRange(Double)

    /// The rule as a sentence to show to a person.
    public var description: String {
        switch self {
        case .latitudeOutOfRange(let degrees): "A latitude must be from -90 to 90 degrees, but this one is \(degrees)."
        case .longitudeOutOfRange(let degrees):
            "A longitude must be from -180 to 180 degrees, but this one is \(degrees)."
        }
    }
}
