import Testing

@testable import InterfaceAdapters

struct ProgressBarTests {
    @Test(arguments: [(0, 8, 0), (1, 8, 3), (7, 8, 21), (8, 8, 24), (9, 8, 24), (-1, 8, 0), (0, 0, 24)])
    func barIsFilledInProportion(done: Int, total: Int, filled: Int) {
        let bar = ProgressBar(done: done, total: total).description
        #expect(bar.prefix { $0 == "█" }.count == filled)
        #expect(bar.count { "█░".contains($0) } == 24)
    }

    @Test func numbersFollowTheBar() {
        #expect(ProgressBar(done: 12, total: 36).description.hasSuffix(" 12 of 36"))
    }
}
