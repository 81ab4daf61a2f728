import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import Testing
import Thoroughness

@testable import InwardFileStores

struct RecordIndexTests {
    private func entry(_ offset: Int) -> RecordEntry {
        RecordEntry(offset: offset, length: offset % 7, checksum: 0, expiry: nil)
    }

    @Test func indexBehavesLikeASortedDictionary() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var index = RecordIndex()
        var expected: [[UInt8]: RecordEntry] = [:]
        for round in 0..<(Thoroughness.isExhaustive ? 6_000 : 2_000) {
            let key = RecordKey(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    String(Int.random(in: 0..<20, using: &random))
                }
            ).encoded
            switch Int.random(in: 0..<500, using: &random) {
            case 0:
                index.apply(.removeAll(key))
                expected = expected.filter { !$0.key.starts(with: key) }
            case 1..<60:
                index.apply(.remove(key))
                expected[key] = nil
            default:
                index.apply(.keep(key, entry(round)))
                expected[key] = entry(round)
            }
            #expect(index[key] == expected[key], "The seed is \(seed).")
            guard round % 50 == 0 else { continue }
            let under = expected.filter { $0.key.starts(with: key) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            let slots = index.slots(under: key)
            #expect(slots.map(\.key) == under.map(\.key), "The seed is \(seed).")
            #expect(slots.map(\.entry) == under.map(\.value), "The seed is \(seed).")
            #expect(index.count == expected.count, "The seed is \(seed).")
            let byteCount = expected.reduce(0) { $0 + RecordIndex.byteCount(of: $1.key, $1.value) }
            #expect(index.byteCount == byteCount, "The seed is \(seed).")
        }
    }

    @Test func encodedKeysKeepTheirOrderAndDecodeToTheSameKeys() {
        let keys: [RecordKey] = [
            [], [""], ["", ""], ["a"], ["a", ""], ["a", "b"], ["a\0"], ["a\u{1}"], ["ab"], ["é"], ["e\u{301}"],
            ["\u{10FFFF}"], ["\0"],
        ]
        for key in keys {
            #expect(RecordKey(encoded: key.encoded) == key)
            for other in keys {
                #expect(key.encoded.lexicographicallyPrecedes(other.encoded) == (key < other))
                #expect(other.encoded.starts(with: key.encoded) == key.contains(other))
            }
        }
        #expect(RecordKey(encoded: [1]) == nil)
        #expect(RecordKey(encoded: [0x81, 0]) == nil)
    }
}
