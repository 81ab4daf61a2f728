/// A whole number that names its field when it is none.
///
/// The platform's decoder says neither where nor what when a number has a fraction or too many digits.
struct WholeNumberDTO: Decodable {
    let value: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            value = try container.decode(Int.self)
        } catch let error as DecodingError {
            throw error
        } catch {
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "\(error)")
            throw DecodingError.typeMismatch(Int.self, context)
        }
    }
}
