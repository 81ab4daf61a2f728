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
