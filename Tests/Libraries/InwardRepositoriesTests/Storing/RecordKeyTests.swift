import InwardRepositories
import Testing

struct RecordKeyTests {
    private let composed: RecordKey = ["\u{E9}"]
    private let decomposed: RecordKey = ["e\u{301}"]

    @Test func equalStringsWithDifferentBytesAreDifferentKeys() {
        #expect(composed.components == decomposed.components)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect(!composed.contains(decomposed.appending("a")))
        #expect(composed.contains(composed.appending("a")))
    }

    /// The strings are equal, although only the second one is ASCII.
    @Test(arguments: [("\u{212A}", "K"), ("\u{37E}", ";"), ("\u{1FEF}", "`")])
    func nonASCIIStringEqualToAnASCIIOneIsADifferentKey(text: String, ascii: String) {
        let (key, other): (RecordKey, RecordKey) = ([text], [ascii])
        #expect(key.components == other.components)
        #expect(key != other && other != key)
        #expect(!key.contains(other) && !other.contains(key))
        #expect(other < key && !(key < other))
    }

    @Test func keyContainsOnlyItselfAndKeysThatBeginWithIt() {
        let key: RecordKey = ["a", "b"]
        for other: RecordKey in [["a", "b"], ["a", "b", ""], ["a", "b", "c"]] { #expect(key.contains(other)) }
        for other: RecordKey in [[], ["a"], ["a", ""], ["a", "bc"], ["b", "b"], ["a", "c", "b"]] {
            #expect(!key.contains(other))
        }
    }

    /// With equal hashes, every lookup would compare all keys. A hundred keys do not have the same hash by coincidence.
    @Test func keysHaveDifferentHashes() {
        #expect(Set((0..<100).map { RecordKey(["remarks", String($0)]).hashValue }).count > 1)
    }

    @Test func keysSortByTheBytesOfTheirComponents() {
        let keys: [RecordKey] = [[], [""], ["a"], ["a", ""], ["a", "b"], ["ab"], decomposed, ["f"], composed]
        for (index, key) in keys.enumerated() {
            for (other, another) in keys.enumerated() {
                #expect((key < another) == (index < other))
                #expect((key == another) == (index == other))
            }
        }
    }
}
