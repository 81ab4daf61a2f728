import Testing

@testable import InwardImages

struct CosineTableTests {
    @Test(arguments: [
        (0, 1, 1.0), (1, 1, -1.0), (1, 2, 0), (3, 2, 0), (2, 1, 1), (1, 3, 0.5), (2, 3, -0.5), (4, 3, -0.5),
        (5, 3, 0.5),
        (7, 3, 0.5), (1, 4, 0.7071067811865476), (1, 6, 0.8660254037844387), (1, 10, 0.9510565162951535),
        (61, 10, 0.9510565162951535), (1, 1000, 0.9999950652018582),
    ])
    func cosineOfAFractionOfAHalfTurnIsExact(numerator: Int, denominator: Int, cosine: Double) {
        #expect(abs(CosineTable.cosine(halfTurns: numerator, over: denominator) - cosine) < 1e-15)
    }

    @Test func wavesHaveTheExpectedValuesAndAMeanOfZero() {
        let table = CosineTable(frequencies: 3, count: 4)
        #expect(table.values[0..<4].allSatisfy { $0 == 1 })
        for (value, expected) in zip(table.values[4...], [0.92388, 0.382683, -0.382683, -0.92388, 0.707107, -0.707107])
        {
            #expect(abs(Double(value) - expected) < 1e-6)
        }
        #expect(abs(table.values[4..<8].reduce(0, +)) < 1e-6)
    }
}
