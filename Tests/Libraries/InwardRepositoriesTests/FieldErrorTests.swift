import InwardRepositories
import Testing

struct FieldErrorTests {
    /// A reason can quote a record, whose values may be of any length.
    @Test(arguments: [(199, false), (200, false), (201, true), (1_000, true)])
    func aReasonIsCutWhereItIsLong(count: Int, isCut: Bool) {
        let reason = FieldError("a.b", String(repeating: "x", count: count)).reason
        #expect(reason.count == min(count, 200))
        #expect(reason.hasSuffix("…") == isCut)
    }
}
