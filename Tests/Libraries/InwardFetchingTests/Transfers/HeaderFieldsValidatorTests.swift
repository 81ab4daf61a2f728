import Testing

@testable import InwardFetching

struct HeaderFieldsValidatorTests {
    private func validator(_ fields: HeaderFields) -> String? { fields.strongValidator }

    @Test func strongTagsAreValidators() {
        #expect(validator([HeaderField(.etag, "\"a\"")]) == "\"a\"")
        #expect(validator([HeaderField(.etag, "W/\"a\"")]) == nil)
        #expect(validator([HeaderField(.etag, "a")]) == nil)
        #expect(validator([HeaderField(.etag, "\"")]) == nil)
        #expect(validator([]) == nil)
    }

    @Test func twoTagsAreNotAValidator() {
        #expect(validator([HeaderField(.etag, "\"a\""), HeaderField(.etag, "\"b\"")]) == nil)
        #expect(validator([HeaderField(.etag, "\"a\", \"b\"")]) == nil)
    }

    @Test func oldModificationTimesAreValidators() {
        let changed = HeaderField(.lastModified, "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(validator([changed]) == nil)
        #expect(validator([changed, HeaderField(.date, "Sun, 06 Nov 1994 08:50:36 GMT")]) == nil)
        #expect(validator([changed, HeaderField(.date, "Sun, 06 Nov 1994 08:50:37 GMT")]) == changed.value)
        #expect(validator([HeaderField(.lastModified, "yesterday")]) == nil)
    }

    @Test func weakTagsRuleOutTheModificationTime() {
        let fields: HeaderFields = [
            HeaderField(.etag, "W/\"a\""), HeaderField(.lastModified, "Sun, 06 Nov 1994 08:49:37 GMT"),
            HeaderField(.date, "Sun, 06 Nov 1994 09:49:37 GMT"),
        ]
        #expect(validator(fields) == nil)
    }
}
