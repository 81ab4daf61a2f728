import InterfaceAdapters
import Testing

struct FieldErrorTests {
    /// What stands in a record has no length that a reason may have.
    @Test(arguments: [(199, false), (200, false), (201, true), (1_000, true)])
    func aReasonIsCutWhereItIsLong(count: Int, isCut: Bool) {
        let reason = FieldError("a.b", String(repeating: "x", count: count)).reason
        #expect(reason.count == min(count, 200))
        #expect(reason.hasSuffix("…") == isCut)
    }
}
