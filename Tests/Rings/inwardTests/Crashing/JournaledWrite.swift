/// A write as an upstream has received it.
struct JournaledWrite: Hashable, Sendable, Decodable {
    private enum CodingKeys: CodingKey {
        case key, body
    }

    /// Its idempotency key; `nil` if it has none.
    let key: String?
    /// What was sent.
    let body: String
    /// What it asks for, such as `PATCH /notes/7`; `nil` if the journal does not say.
    var request: String?

    /// What tells it from all others: the title of what was sent, or, of a deletion, the request; `nil` if it has neither.
    var title: String? {
        // As the program writes JSON, and without anything in it that has to be written otherwise.
        guard let start = body.firstRange(of: #""title":""#)?.upperBound else {
            return request.flatMap { $0.hasPrefix("DELETE ") ? $0 : nil }
        }
        return body[start...].firstIndex(of: "\"").map { String(body[start..<$0]) }
    }
}
