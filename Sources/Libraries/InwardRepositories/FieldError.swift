import InwardCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What is wrong with a record, and where in it.
public struct FieldError: Error, Hashable, CustomStringConvertible {
    private static let longestReason = 200

    /// The path of the field, such as `address.geo.lat`; `nil` if the record as a whole is wrong.
    public let field: String?
    /// What is wrong, as the end of a sentence: `is missing`.
    public let reason: String

    /// Says what is wrong with a field.
    ///
    /// - Parameters:
    ///   - field: The path of the field; `nil` if the record as a whole is wrong.
    ///   - reason: What is wrong, as the end of a sentence. More than 200 characters are cut.
    public init(_ field: String?, _ reason: String) {
        self.field = field
        // What stands in a record has no length that a reason may have.
        self.reason = reason.excerpt(upTo: Self.longestReason)
    }

    /// Keeps what a decoder found, in words that need no knowledge of the decoder.
    ///
    /// - Parameters:
    ///   - error: What decoding threw.
    ///   - depth: How many steps of the coding path lead to the record itself.
    init(decoding error: any Error, recordDepth depth: Int = 0) {
        func path(_ keys: [any CodingKey]) -> String? {
            let names = keys.dropFirst(depth).map { key in key.intValue.map(String.init) ?? key.stringValue }
            return names.isEmpty ? nil : names.joined(separator: ".")
        }
        switch error {
        case let error as FieldError:
            self = error
        case DecodingError.keyNotFound(let key, let context):
            self.init(path(context.codingPath + [key]), "is missing")
        case DecodingError.valueNotFound(_, let context):
            self.init(path(context.codingPath), "is null")
        case DecodingError.typeMismatch(let type, let context):
            self.init(path(context.codingPath), "is not \(Self.name(of: type))")
        case DecodingError.dataCorrupted(let context):
            self.init(path(context.codingPath), "cannot be read")
        default:
            self.init(nil, "cannot be read")
        }
    }

    /// The field and the reason, as the end of a sentence.
    public var description: String {
        let subject = field.map { "its field “\($0)” " } ?? "it "
        return subject + reason
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is Int.Type: "a whole number"
        case is Double.Type: "a number"
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is [Any].Type: "a list"
        default: "an object"
        }
    }
}

extension Decodable {
    /// Decodes a whole JSON text.
    ///
    /// - Throws: a ``FieldError`` that says how the text begins if it is no JSON at all.
    package static func decoded(from json: Data) throws(FieldError) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: json)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            guard !json.isEmpty else { throw FieldError(nil, "is empty") }
            let beginning = String(decoding: json.prefix(80), as: UTF8.self).excerpt(upTo: 40)
            throw FieldError(nil, "is no valid JSON; it begins with “\(beginning)”")
        } catch {
            throw FieldError(decoding: error)
        }
    }
}
