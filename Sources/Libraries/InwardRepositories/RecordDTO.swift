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
