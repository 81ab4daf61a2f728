import InwardRepositories
import Testing

struct EntityFilterTests {
    private let ofSeven = EntityFilter<Remark>.author(7)
    private let short = EntityFilter<Remark>("longest", "3") { $0.text.count <= 3 }

    @Test func filtersWithTheSameQueryAreEqual() {
        #expect(ofSeven == EntityFilter("author", "7") { _ in false })
        #expect(ofSeven != .author(8) && ofSeven != .all)
        #expect(ofSeven.hashValue == EntityFilter<Remark>.author(7).hashValue)
        #expect(EntityFilter<Remark>("ab", "c") { _ in true } != EntityFilter("a", "bc") { _ in true })
        #expect(ofSeven.and(short) != short.and(ofSeven))
    }

    @Test func combinedFilterMatchesWhatBothMatch() {
        let both = short.and(ofSeven)
        #expect(both.fields.map(\.name) == ["longest", "author"])
        #expect(both.subject == ["users", "7"])
        #expect(both.matches(Remark(id: 1, author: 7, text: "one")))
        #expect(!both.matches(Remark(id: 1, author: 8, text: "one")))
        #expect(!both.matches(Remark(id: 1, author: 7, text: "three")))
        #expect(EntityFilter<Remark>.all.matches(Remark(id: 1, author: 7, text: "one")))
    }
}
