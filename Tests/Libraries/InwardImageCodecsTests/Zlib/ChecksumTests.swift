import InwardTesting
import Testing

@testable import InwardImageCodecs

struct ChecksumTests {
    @Test func checksumsMatchKnownValues() {
        #expect(CRC32.checksum(of: Array("123456789".utf8).span) == 0xCBF4_3926)
        #expect(CRC32.checksum(of: [UInt8]().span) == 0)
        #expect(Adler32.checksum(of: Array("Wikipedia".utf8).span) == 0x11E6_0398)
        #expect(Adler32.checksum(of: [UInt8]().span) == 1)
    }

    @Test func checksumsMatchABytewiseComputation() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        for count in [1, 7, 8, 15, 16, 17, 175, 176, 177, 400, 5_553, 20_000] {
            let isHigh = Bool.random(using: &generator)
            let bytes = (0..<count).map { _ in isHigh ? 255 : UInt8.random(in: 0...255, using: &generator) }
            var (a, b) = (UInt32(1), UInt32(0))
            for byte in bytes {
                a = (a + UInt32(byte)) % 65_521
                b = (b + a) % 65_521
            }
            #expect(Adler32.checksum(of: bytes.span) == b << 16 | a, "seed \(seed), \(count) bytes")
            #expect(CRC32.checksum(of: bytes.span) == PNGFile.checksum(of: bytes), "seed \(seed), \(count) bytes")
            let place = Int.random(in: 0...count, using: &generator)
            var (adler, crc) = (Adler32(), CRC32())
            for range in [0..<place, place..<count] {
                adler.update(bytes.span.extracting(range))
                crc.update(bytes.span.extracting(range))
            }
            #expect(adler.value == b << 16 | a, "seed \(seed)")
            #expect(crc.value == PNGFile.checksum(of: bytes), "seed \(seed)")
        }
    }
}
