import Testing

@testable import InwardFetching

struct ContentRangeTests {
    @Test func validRangesAreParsed() {
        #expect(ContentRange("bytes 0-99/1000") == .part(0...99, total: 1_000))
        #expect(ContentRange("Bytes 7-7/*") == .part(7...7, total: nil))
        #expect(ContentRange("bytes */1000") == .none(total: 1_000))
    }

    @Test(arguments: [
        "", "bytes", "bytes 0-99", "bytes 99-0/1000", "bytes 0-99/99", "bytes -1-9/10", "bytes 0-9/x", "bytes */*",
        "bytes 0-9/10/11", "items 0-9/10", "bytes 0-+9/10", "bytes 0-9/", "bytes -/10",
        "bytes 0-99999999999999999999/*", "bytes 0-9 /10", "bytes 0-9//10", "bytes 0--9/10",
    ])
    func invalidRangesAreRejected(text: String) {
        #expect(ContentRange(text) == nil)
    }
}
