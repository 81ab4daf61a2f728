/// Where post reaches somebody, with its place on the map.
///
/// The lines have no rule of their own: what an address must look like differs by country, and some have no street or no
/// postal code.
public struct PostalAddress: Hashable, Sendable {
    /// The street, with the house number where there is one.
    public let street: String
    /// The part of the building, such as a flat.
    public let suite: String
    /// The city, town or village.
    public let city: String
    /// The postal code.
    public let zipcode: String
    /// Where on Earth this is.
    public let location: GeographicPoint

    /// Makes an address from its lines and its place.
    public init(street: String, suite: String, city: String, zipcode: String, location: GeographicPoint) {
        self.street = street
        self.suite = suite
        self.city = city
        self.zipcode = zipcode
        self.location = location
    }
}

/// A point on Earth, in degrees of WGS 84.
public struct GeographicPoint: Hashable, Sendable {
    /// Degrees north of the equator, from -90 to 90.
    public let latitude: Double
    /// Degrees east of Greenwich, from -180 to 180.
    public let longitude: Double

    /// Makes a point from its coordinates in degrees.
    ///
    /// - Throws: a ``GeographicPointError`` if a coordinate is outside its range, infinite or not a number.
    public init(latitude: Double, longitude: Double) throws(GeographicPointError) {
        guard (-90...90).contains(latitude) else { throw .latitudeOutOfRange(latitude) }
        guard (-180...180).contains(longitude) else { throw .longitudeOutOfRange(longitude) }
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// Why two numbers are no ``GeographicPoint``.
public enum GeographicPointError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The latitude, given here in degrees, is not within -90 and 90.
    case latitudeOutOfRange(Double)
    /// The longitude, given here in degrees, is not within -180 and 180.
    case longitudeOutOfRange(Double)

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .latitudeOutOfRange(let degrees): "A latitude is from -90 to 90 degrees, which \(degrees) is not."
        case .longitudeOutOfRange(let degrees): "A longitude is from -180 to 180 degrees, which \(degrees) is not."
        }
    }
}
