import InwardFetching
import TestSupport
import Testing

struct DataRequestIdempotenceTests {
    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("OPTIONS", true), ("PUT", true), ("DELETE", true), ("TRACE", true),
        ("POST", false), ("PATCH", false), ("CONNECT", false), ("get", false), ("PURGE", false),
    ])
    func idempotenceFollowsTheMethod(method: String, isIdempotent: Bool) throws {
        let request = try DataRequest.example(method: #require(DataRequest.Method(method)))
        #expect(request.isIdempotent == isIdempotent)
    }

    @Test(arguments: [
        ("Idempotency-Key", "7", true), ("idempotency-key", "7", true), ("Idempotency-Key", " ", false),
        ("X-Idempotency-Key", "7", false),
    ])
    func idempotencyKeyMakesAnyRequestIdempotent(name: String, value: String, isIdempotent: Bool) throws {
        let name = try #require(HeaderField.Name(name))
        let request = try DataRequest.example(method: .post, headerFields: [HeaderField(name, value)])
        #expect(request.isIdempotent == isIdempotent)
    }
}
