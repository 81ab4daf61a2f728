import Foundation

@testable import InwardRepositories

/// Everything that can be read from a JSON text, except that Foundation rounds numbers with more digits than a `Double` to integers.
indirect enum JSONTree: Decodable, Equatable {
    case null
    case truth(Bool)
    case number(Double)
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
        } else if let number = try? value.decode(Double.self) {
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

/// Checks that a text is decoded as by Foundation, except where the two differ: incomplete escapes and numbers that are too small.
func compareDecoders(_ text: Data) {
    let ours = try? JSONRecordDecoder.decode(JSONTree.self, from: text)
    let exponents = [Data("e-".utf8), Data("E-".utf8)]
    guard text.range(of: Data("\\u".utf8)) == nil, !exponents.contains(where: { text.range(of: $0) != nil }) else {
        return
    }
    precondition(ours == (try? JSONDecoder().decode(JSONTree.self, from: text)))
}
