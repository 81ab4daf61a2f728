import Foundation

/// A list of JSON records that can be asked as JSONPlaceholder is: by any field, by identity, and for a part.
///
/// Elements that are no objects belong to the whole list and match no question.
struct JSONList {
    private let elements: [Any]

    /// Reads a list; `nil` if the text is not a JSON list.
    init?(_ json: Data) {
        guard let elements = try? JSONSerialization.jsonObject(with: json) as? [Any] else { return nil }
        self.elements = elements
    }

    /// The records that every field named in a query is equal for. `_start` and `_limit` take a part of them.
    func matching(_ query: [URLQueryItem]) -> Data {
        let fields = query.filter { !["_start", "_limit"].contains($0.name) }
        let matches = elements.filter { element in
            fields.allSatisfy { field in Self.text(of: element, field: field.name) == field.value }
        }
        let start = Self.number("_start", in: query) ?? 0
        let limit = Self.number("_limit", in: query) ?? matches.count
        return Self.json(Array(matches.dropFirst(start).prefix(limit)))
    }

    /// Returns the first record with an identity; `nil` if no record has it.
    func record(id: String) -> Data? {
        elements.first { Self.text(of: $0, field: "id") == id }.map(Self.json)
    }

    private static func number(_ name: String, in query: [URLQueryItem]) -> Int? {
        query.first { $0.name == name }?.value.flatMap { Int($0) }.map { max(0, $0) }
    }

    /// A field of a record as a query would write it: a text as it is, anything else as JSON.
    private static func text(of element: Any, field: String) -> String? {
        guard let value = (element as? [String: Any])?[field] else { return nil }
        return value as? String ?? String(decoding: json(value), as: UTF8.self)
    }

    private static func json(_ value: Any) -> Data {
        // What was read from JSON can be written as JSON.
        (try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])) ?? Data()
    }
}
