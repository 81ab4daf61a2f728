/// A field of a record, which names itself when it cannot be read.
///
/// The platform's decoder says neither where nor what about a number with a fraction or too many digits, or a text that is no
/// Unicode.
struct FieldDTO<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
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
}
