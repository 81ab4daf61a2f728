/// Header fields in the order they are sent. A name may repeat, and every repeat is kept.
public struct HeaderFields: Hashable, Sendable {
    private var fields: [HeaderField] = []

    /// Makes header fields without any.
    public init() {}

    /// Makes header fields of these.
    public init(_ fields: some Sequence<HeaderField>) {
        self.fields = Array(fields)
    }

    /// The value of the fields of this name; `nil` if there are none.
    ///
    /// The values of repeats are joined by commas, as RFC 9110 section 5.3 reads them; ``values(of:)`` keeps them apart.
    /// Setting replaces all fields of the name by one; setting `nil` removes them.
    ///
    /// - Complexity: O(n) in the number of fields.
    public subscript(name: HeaderField.Name) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { fields.append(HeaderField(name, newValue)) }
        }
    }

    /// The values of all fields of this name, in their order.
    ///
    /// - Complexity: O(n) in the number of fields.
    public func values(of name: HeaderField.Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Adds a field behind the others, whether or not its name is there already.
    public mutating func append(_ field: HeaderField) {
        fields.append(field)
    }

    /// Removes every field that a condition holds for.
    ///
    /// - Complexity: O(n) in the number of fields.
    public mutating func removeAll(where condition: (HeaderField) -> Bool) {
        fields.removeAll(where: condition)
    }
}

extension HeaderFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position behind the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at a position, which must be one of ``startIndex`` up to but not including ``endIndex``.
    public subscript(position: Int) -> HeaderField { fields[position] }
}

extension HeaderFields: ExpressibleByArrayLiteral {
    /// Makes header fields of these.
    public init(arrayLiteral elements: HeaderField...) {
        fields = elements
    }
}

extension HeaderFields: CustomStringConvertible {
    /// The fields as they are sent, but for sensitive values.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}
