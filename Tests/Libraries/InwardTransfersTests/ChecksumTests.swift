import InwardTransfers
import Testing

struct ChecksumTests {
    @Test func checksumMatchesTheStandardValue() {
        #expect(Checksum(of: Array("123456789".utf8).span).value == 0x995D_C9BB_DF19_39FA)
        #expect(Checksum(of: [UInt8]().span).value == 0)
        #expect(Checksum().value == 0)
    }

    @Test(arguments: 0...20) func checksumOfPartsEqualsThatOfTheWhole(count: Int) {
        let bytes = (0..<20).map { UInt8($0 * 11) }
        var checksum = Checksum(of: Array(bytes.prefix(count)).span)
        checksum = Checksum(value: checksum.value)
        checksum.update(with: Array(bytes.dropFirst(count)).span)
        #expect(checksum == Checksum(of: bytes.span))
    }
}
