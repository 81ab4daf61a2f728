/// A write that an upstream received.
struct JournaledWrite: Hashable, Sendable, Decodable {
    private enum CodingKeys: CodingKey {
        case key, body
    }

    /// The idempotency key; `nil` if there is none.
    let key: String?
    /// The body.
    let body: String
    /// The method and the path, such as `PATCH /notes/7`; `nil` if the journal does not contain them.
    var request: String?

    /// The unique name of the write: the title in its body, or the request of a deletion; `nil` if it has neither.
    var title: String? {
        // The program writes JSON like this, and the titles contain nothing to escape.
        guard let start = body.firstRange(of: #""title":""#)?.upperBound else {
            return request.flatMap { $0.hasPrefix("DELETE ") ? $0 : nil }
        }
        return body[start...].firstIndex(of: "\"").map { String(body[start..<$0]) }
    }
}
