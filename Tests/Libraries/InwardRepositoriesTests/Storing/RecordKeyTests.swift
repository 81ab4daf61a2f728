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
