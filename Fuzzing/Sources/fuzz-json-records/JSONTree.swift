import Foundation

@testable import InwardRepositories

/// Everything that can be read from a JSON text, with one type of numbers.
indirect enum JSONTree<Number: Decodable & Equatable>: Decodable, Equatable {
    case null
    case truth(Bool)
    case number(Number)
    case text(String)
    case list([JSONTree])
    case object([String: JSONTree])
    case other

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let truth = try? value.decode(Bool.self) {
            self = .truth(truth)
        } else if let number = try? value.decode(Number.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONTree].self) {
            self = .list(list)
        } else if let object = try? value.decode([String: JSONTree].self) {
            self = .object(object)
        } else {
            self = .other
        }
    }
}

/// Checks that a text is decoded as by Foundation, except where the two differ: incomplete escapes, numbers that are too small, zero with an
/// exponent, integers with a fraction or an exponent, and names with different bytes that are equal by the rules of Unicode.
func compareDecoders(_ text: Data) {
    compareDecoders(text, Double.self, unlessItHas: ["\\u", "e-", "E-", "0e", "0E"])
    compareDecoders(text, Int.self, unlessItHas: ["\\u", ".", "e", "E"])
}

private func compareDecoders<Number: Decodable & Equatable>(
    _ text: Data,
    _ type: Number.Type,
    unlessItHas differences: [String]
) {
    let ours = try? JSONRecordDecoder.decode(JSONTree<Number>.self, from: text)
    guard !differences.contains(where: { text.range(of: Data($0.utf8)) != nil }), text.allSatisfy({ $0 < 0x80 }) else {
        return
    }
    precondition(ours == (try? JSONDecoder().decode(JSONTree<Number>.self, from: text)))
}
