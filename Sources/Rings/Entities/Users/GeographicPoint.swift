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
