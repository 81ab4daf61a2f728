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
