import Testing

@testable import InwardFetching

struct StoredRangeTests {
    @Test func rangesMustBeAsLongAsTheBody() throws {
        let field = try #require(ContentRange("bytes 4-8/10"))
        #expect(StoredRange(field, byteCount: 5) == StoredRange(bytes: 4..<9, wholeCount: 10))
        #expect(StoredRange(field, byteCount: 4) == nil)
        #expect(StoredRange(field, byteCount: 6) == nil)
        #expect(StoredRange(field, byteCount: 0) == nil)
        let unsatisfied = try #require(ContentRange("bytes */10"))
        #expect(StoredRange(unsatisfied, byteCount: 10) == nil)
    }

    @Test func highestPositionsDoNotOverflow() throws {
        let field = try #require(ContentRange("bytes 9223372036854775800-9223372036854775806/9223372036854775807"))
        #expect(StoredRange(field, byteCount: 7)?.bytes.upperBound == .max)
        #expect(StoredRange(field, byteCount: 8) == nil)
        #expect(StoredRange(field, byteCount: .max) == nil)
    }

    @Test func onlyTheWholeIsWhole() {
        #expect(StoredRange(whole: 5).isWhole)
        #expect(!StoredRange(bytes: 0..<4, wholeCount: 5).isWhole)
        #expect(!StoredRange(bytes: 1..<5, wholeCount: 5).isWhole)
        #expect(!StoredRange(bytes: 0..<5, wholeCount: nil).isWhole)
        #expect(StoredRange(bytes: 0..<5, wholeCount: nil).fieldValue == "bytes 0-4/*")
        #expect(StoredRange(bytes: 2..<5, wholeCount: 9).fieldValue == "bytes 2-4/9")
    }

    @Test(arguments: [
        ("bytes=0-1", 0..<2), ("bytes=1-", 1..<10), ("bytes=-3", 7..<10), ("bytes=0-99", 0..<10),
        ("BYTES= 9-9 ", 9..<10),
        ("bytes=-99", 0..<10), ("bytes=0-999999999999999999", 0..<10),
    ])
    func requestedBytesAreThoseThatExist(value: String, bytes: Range<Int>) throws {
        #expect(try #require(RequestedRange(value)).bytes(of: 10) == bytes)
    }

    @Test(arguments: ["bytes=10-", "bytes=10-11", "bytes=-0"])
    func requestsForOtherBytesHaveNone(value: String) throws {
        #expect(try #require(RequestedRange(value)).bytes(of: 10) == nil)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=1-0", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", "bytes=1 -2",
        "bytes=+1-2",
        "bytes=0-99999999999999999999", "bytes 0-1", "bytes=1-2-3",
    ])
    func otherValuesAreIgnored(value: String) {
        #expect(RequestedRange(value) == nil)
    }
}
