import Entities
import Testing

struct GeographicPointTests {
    @Test(arguments: [(-90.0, -180.0), (90, 180), (0, 0), (-0.0, 179.999)])
    func coordinatesInRangeAreAccepted(latitude: Double, longitude: Double) throws {
        let point = try GeographicPoint(latitude: latitude, longitude: longitude)
        #expect(point.latitude == latitude)
        #expect(point.longitude == longitude)
    }

    @Test(arguments: [-90.000001, 90.000001, .infinity, -.infinity])
    func latitudeOutOfRangeIsRejected(latitude: Double) {
        #expect(throws: GeographicPointError.latitudeOutOfRange(latitude)) {
            try GeographicPoint(latitude: latitude, longitude: 0)
        }
    }

    @Test(arguments: [-180.000001, 180.000001, .infinity, -.infinity])
    func longitudeOutOfRangeIsRejected(longitude: Double) {
        #expect(throws: GeographicPointError.longitudeOutOfRange(longitude)) {
            try GeographicPoint(latitude: 0, longitude: longitude)
        }
    }

    @Test func nanIsRejected() {
        #expect(throws: GeographicPointError.self) { try GeographicPoint(latitude: .nan, longitude: 0) }
        #expect(throws: GeographicPointError.self) { try GeographicPoint(latitude: 0, longitude: .nan) }
    }
}
