import Entities

/// A point on Earth within a ``PostalAddressDTO``, whose coordinates are written as texts.
struct GeographicPointDTO: Decodable {
    let lat: String
    let lng: String

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
        guard let number = Double(text) else { throw FieldError(field, "is not a number: “\(text)”") }
        return number
    }

    private static func field(of error: GeographicPointError) -> String {
        switch error {
        case .latitudeOutOfRange: "address.geo.lat"
        case .longitudeOutOfRange: "address.geo.lng"
        }
    }
}
