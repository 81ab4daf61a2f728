import Testing

@testable import InwardImages

struct SRGBTransferTests {
    private let transfer = SRGBTransfer.tables

    private func level(of light: Float) -> UInt8 {
        SRGBTransfer.level(of: light, transfer.levels.span, transfer.bounds.span)
    }

    @Test func levelsConvertToTheLinearLightOfTheStandard() {
        for (level, light) in zip([0, 10, 11, 50, 128, 200, 255], Expected.light) {
            #expect(abs(Double(transfer.light[level]) - Double(light) / 1e9) < 1e-7)
        }
    }

    @Test func everyLevelSurvivesARoundTrip() {
        for level in 0...255 { #expect(self.level(of: transfer.light[level]) == UInt8(level)) }
    }

    @Test func lightBecomesTheNearestEncodedLevel() {
        for level in 0..<255 {
            let middle = SRGBTransfer.light(ofEncoded: (Double(level) + 0.5) / 255)
            #expect(self.level(of: Float(middle * 0.9999)) == UInt8(level))
            #expect(self.level(of: Float(middle * 1.0001)) == UInt8(level + 1))
        }
    }

    @Test func lightHalfwayBetweenTwoLevelsBecomesTheHigherOne() {
        for level in 0..<255 { #expect(self.level(of: transfer.bounds[level]) == UInt8(level + 1)) }
    }

    @Test func lightOutOfRangeIsClamped() {
        #expect(level(of: -0.1) == 0)
        #expect(level(of: -.infinity) == 0)
        #expect(level(of: 1.5) == 255)
        #expect(level(of: .infinity) == 255)
    }
}
