import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error in a record, with the field that is invalid.
public struct FieldError: Error, Hashable, CustomStringConvertible {
    private static let longestReason = 200

    /// The path of the field, such as `address.geo.lat`; `nil` if the record as a whole is invalid.
    public let field: String?
    /// What is wrong, as the end of a sentence: `is missing`.
    public let reason: String

    /// Creates an error for a field.
    ///
    /// - Parameters:
    ///   - field: The path of the field; `nil` if the record as a whole is invalid.
    ///   - reason: What is wrong, as the end of a sentence. It is cut to 200 characters.
    public init(_ field: String?, _ reason: String) {
        self.field = field
        // The reason may quote the record, whose contents can have any length.
        self.reason = reason.excerpt(upTo: Self.longestReason)
    }

    /// Translates a decoding error into terms that do not require knowledge of the decoder.
    ///
    /// - Parameters:
    ///   - error: The error that decoding threw.
    ///   - depth: The number of components in the coding path of the record itself.
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
