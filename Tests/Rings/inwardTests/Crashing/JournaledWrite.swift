/// A write as an upstream has received it.
struct JournaledWrite: Hashable, Sendable, Decodable {
    /// Its idempotency key; `nil` if it has none.
    let key: String?
    /// What was sent.
    let body: String

    /// The title of the post that was sent; `nil` if it is none.
    var title: String? {
        // As the program writes JSON, and without anything in it that has to be written otherwise.
        guard let start = body.firstRange(of: #""title":""#)?.upperBound else { return nil }
        return body[start...].firstIndex(of: "\"").map { String(body[start..<$0]) }
    }
}
