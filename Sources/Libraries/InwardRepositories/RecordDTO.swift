public import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The encoded form of an entity, as the upstream sends it and as a store keeps it.
///
///     struct CommentDTO: RecordDTO {
///         static let listName = "comments"
///         let id: Int
///         let text: String
///
///         init(_ comment: Comment) {
///             id = comment.id
///             text = comment.text
///         }
///
///         func entity() throws(FieldError) -> Comment {
///             guard !text.isEmpty else { throw FieldError("text", "is empty") }
///             return Comment(id: id, text: text)
///         }
///     }
public protocol RecordDTO: Codable, SendableMetatype {
    /// The type of entity that a record describes.
    associatedtype Entity: Identifiable & Sendable

    /// The name of a list of these records in messages and keys, such as `users`.
    static var listName: String { get }

    /// Creates the record of an entity.
    init(_ entity: Entity)

    /// Returns the entity that the record describes.
    ///
    /// - Throws: a ``FieldError`` that names the field that breaks one of the entity's rules.
    func entity() throws(FieldError) -> Entity
}

/// A field that reports its path when it cannot be decoded.
///
/// For a number with a fraction or too many digits, or a string that is not valid Unicode, the platform's decoder reports neither
/// the field nor the problem.
public struct FieldDTO<Value: Codable & Sendable>: Codable, Sendable {
    /// The value of the field.
    public let value: Value

    /// Creates a field with a value.
    public init(_ value: Value) {
        self.value = value
    }

    /// Decodes a field.
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

    /// Encodes the value of the field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A decoded list: the valid records as entities, and the names of the damaged ones.
///
/// Use it in an ``Envelope``. A record that cannot be decoded does not damage the list.
///
/// At most a thousand damaged records are named, to limit memory; the rest are counted.
public struct RecordList<Record: RecordDTO>: Decodable, SendableMetatype {
    private static var maximumNamed: Int { 1_000 }

    /// The entities of the valid records, in order.
    public private(set) var entities: [Record.Entity] = []
    /// The damaged records, in order.
    public private(set) var rejected: [RejectedRecord] = []
    private var unnamed = 0
    private var positionOfUnnamed: Int?

    /// Decodes a list.
    ///
    /// - Throws: a `DecodingError` if the value is not a list.
    public init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        var positions: [Record.Entity.ID: Int] = [:]
        while !elements.isAtEnd {
            let position = elements.currentIndex
            // A decoder of its own lets the list continue after an element that cannot be decoded.
            let element = try elements.superDecoder()
            do throws(FieldError) {
                let entity = try Self.entity(from: element)
                if let earlier = positions.updateValue(position, forKey: entity.id) {
                    positions[entity.id] = earlier
                    throw FieldError("id", "was used before, at position \(earlier)")
                }
                entities.append(entity)
            } catch {
                reject(error, at: position)
            }
        }
        if let first = positionOfUnnamed {
            rejected.append(record(FieldError(nil, "is damaged, as are \(unnamed - 1) records behind it"), at: first))
        }
    }

    private mutating func reject(_ error: FieldError, at position: Int) {
        guard rejected.count == Self.maximumNamed else { return rejected.append(record(error, at: position)) }
        unnamed += 1
        positionOfUnnamed = positionOfUnnamed ?? position
    }

    private func record(_ error: FieldError, at position: Int) -> RejectedRecord {
        RejectedRecord(list: Record.listName, position: position, field: error.field, reason: error.reason)
    }

    private static func entity(from decoder: any Decoder) throws(FieldError) -> Record.Entity {
        let record: Record
        do {
            record = try Record(from: decoder)
        } catch {
            throw FieldError(decoding: error, recordDepth: decoder.codingPath.count)
        }
        return try record.entity()
    }
}

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
