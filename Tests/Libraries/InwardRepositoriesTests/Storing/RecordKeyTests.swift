import InwardRepositories
import Testing

struct RecordKeyTests {
    private let composed: RecordKey = ["\u{E9}"]
    private let decomposed: RecordKey = ["e\u{301}"]

    @Test func textsThatAreEqualAndHaveOtherBytesAreOtherKeys() {
        #expect(composed.components == decomposed.components)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect(!composed.contains(decomposed.appending("a")))
        #expect(composed.contains(composed.appending("a")))
    }

    /// The first is equal to the second as a text, though only one of them is ASCII.
    @Test(arguments: [("\u{212A}", "K"), ("\u{37E}", ";"), ("\u{1FEF}", "`")])
    func aTextThatIsEqualToOneInASCIIIsAnotherKey(text: String, ascii: String) {
        let (key, other): (RecordKey, RecordKey) = ([text], [ascii])
        #expect(key.components == other.components)
        #expect(key != other && other != key)
        #expect(!key.contains(other) && !other.contains(key))
        #expect(other < key && !(key < other))
    }

    @Test func aKeyContainsItselfAndWhatBeginsWithItAlone() {
        let key: RecordKey = ["a", "b"]
        for other: RecordKey in [["a", "b"], ["a", "b", ""], ["a", "b", "c"]] { #expect(key.contains(other)) }
        for other: RecordKey in [[], ["a"], ["a", ""], ["a", "bc"], ["b", "b"], ["a", "c", "b"]] {
            #expect(!key.contains(other))
        }
    }

    /// Otherwise every look-up would go through all keys. Of a hundred keys all have one hash by chance in no lifetime.
    @Test func keysHaveHashesOfTheirOwn() {
        #expect(Set((0..<100).map { RecordKey(["remarks", String($0)]).hashValue }).count > 1)
    }

    @Test func keysAreInOrderByTheBytesOfTheirComponents() {
        let keys: [RecordKey] = [[], [""], ["a"], ["a", ""], ["a", "b"], ["ab"], decomposed, ["f"], composed]
        for (index, key) in keys.enumerated() {
            for (other, another) in keys.enumerated() {
                #expect((key < another) == (index < other))
                #expect((key == another) == (index == other))
            }
        }
    }
}
