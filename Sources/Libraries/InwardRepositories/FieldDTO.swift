/// A field of a record, which names itself when it cannot be read.
///
/// The platform's decoder says neither where nor what about a number with a fraction or too many digits, or a text that is no
/// Unicode.
public struct FieldDTO<Value: Codable & Sendable>: Codable, Sendable {
    /// What the field says.
    public let value: Value

    /// Makes a field that says something.
    public init(_ value: Value) {
        self.value = value
    }

    /// Reads a field.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            value = try container.decode(Value.self)
        } catch let error as DecodingError {
            throw error
        } catch {
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "\(error)")
            throw DecodingError.typeMismatch(Value.self, context)
        }
    }

    /// Writes what the field says.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
