/// The JSON of users, valid or damaged, as an upstream sends it.
package enum UserJSON {
    /// Returns a record, with a part of its text replaced.
    package static func record(id: String = "1", replacing text: String = "", by other: String = "") -> String {
        let record = """
            {"id": \(id), "name": "Ada Lovelace", "username": "ada", "email": "Ada@Example.org",
             "address": {"street": "St James's Square", "suite": "12", "city": "London", "zipcode": "SW1Y",
                         "geo": {"lat": "51.5072", "lng": "-0.1345"}},
             "phone": "555-0100", "website": "example.org",
             "company": {"name": "Analytical Engines", "catchPhrase": "It weaves", "bs": "numbers"}, "extra": [1, {}]}
            """
        guard !text.isEmpty else { return record }
        return record.replacing(text, with: other)
    }

    package static func list(_ records: String...) -> String {
        "[\(records.joined(separator: ","))]"
    }
}
