/// A postal address with its geographic location.
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
public enum GeographicPointError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The latitude, in degrees, is outside -90 to 90.
    case latitudeOutOfRange(Double)
    /// The longitude, in degrees, is outside -180 to 180.
    case longitudeOutOfRange(Double)

    /// The rule as a sentence to show to a person.
    public var description: String {
        switch self {
        case .latitudeOutOfRange(let degrees): "A latitude is from -90 to 90 degrees, which \(degrees) is not."
        case .longitudeOutOfRange(let degrees): "A longitude is from -180 to 180 degrees, which \(degrees) is not."
        }
    }
}
