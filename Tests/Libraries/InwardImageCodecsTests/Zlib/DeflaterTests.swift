import InwardTesting
import Testing

@testable import InwardImageCodecs

struct DeflaterTests {
    private func check(_ bytes: [UInt8], _ name: String) throws {
        let data = try Deflater.compressed(bytes.span)
        #expect(try Inflation.inflated(data, count: bytes.count) == bytes, "\(name)")
        // Compression never adds much, because data can be stored.
        #expect(data.count <= bytes.count + 5 * (bytes.count / 16_000 + 1) + 8, "\(name)")
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 257, 258, 259, 260, 70_000])
    func regularDataSurvivesARoundTrip(count: Int) throws {
        try check([UInt8](repeating: 7, count: count), "one")
        try check((0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }, "many")
        try check((0..<count).map { UInt8(truncatingIfNeeded: $0 % 3) }, "three")
    }

    @Test(arguments: 0..<10)
    func randomDataSurvivesARoundTrip(round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        let count = Int.random(in: 0...40_000, using: &generator)
        let most = [1, 3, 20, 255].randomElement(using: &generator) ?? 255
        var bytes: [UInt8] = []
        while bytes.count < count {
            if bytes.count > 10, Bool.random(using: &generator) {
                let distance = Int.random(in: 1...min(bytes.count, 33_000), using: &generator)
                for _ in 0..<Int.random(in: 3...300, using: &generator) { bytes.append(bytes[bytes.count - distance]) }
            } else {
                for _ in 0..<Int.random(in: 1...50, using: &generator) {
                    bytes.append(UInt8(Int.random(in: 0...most, using: &generator)))
                }
            }
        }
        try check(bytes, "seed \(seed)")
    }

    @Test func repetitionIsCompressed() throws {
        #expect(try Deflater.compressed([UInt8](repeating: 1, count: 100_000).span).count < 200)
        let text = Array(repeatElement("the quick brown fox ".utf8, count: 500).joined())
        #expect(try Deflater.compressed(text.span).count < 150)
    }

    @Test func codesNeverExceedTheirMaximumLength() {
        // Fibonacci numbers as frequencies give the longest codes.
        var frequencies = [1, 1]
        while frequencies.count < 40 {
            frequencies.append(frequencies[frequencies.count - 1] + frequencies[frequencies.count - 2])
        }
        for longest in [7, 9, 15] {
            let lengths = HuffmanCode(frequencies: frequencies, longest: longest).lengths
            #expect(lengths.allSatisfy { $0 >= 1 && $0 <= longest })
            let room = lengths.reduce(0) { $0 + 1 << (longest - Int($1)) }
            #expect(room == 1 << longest)
        }
        #expect(HuffmanCode(frequencies: [0, 5, 0], longest: 15).lengths == [0, 1, 0])
        #expect(HuffmanCode(frequencies: [0, 0], longest: 15).lengths == [0, 0])
    }
}
