import Testing

@testable import InwardImages

struct InvalidationGenerationsTests {
    @Test func invalidationIsCountedForItsAddressAndFewOthers() {
        var counts = InvalidationGenerations()
        counts.add("a")
        #expect(counts.count(for: "a") == 1)
        let others = (0..<1_000).map { counts.count(for: ImageAddress("\($0)")) }
        #expect(others.contains(0))
        counts.add(nil)
        #expect(counts.count(for: "a") == 2)
        #expect((0..<1_000).map { counts.count(for: ImageAddress("\($0)")) } == others.map { $0 + 1 })
    }
}
