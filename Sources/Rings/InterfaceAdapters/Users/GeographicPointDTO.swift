import Entities
import InwardRepositories

/// A point on Earth within a ``PostalAddressDTO``, whose coordinates are written as texts.
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
        // `Double` reads more than numbers in digits: `nan`, and hexadecimal ones.
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
