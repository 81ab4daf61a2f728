import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A record as an upstream writes it, which may become an entity, and as a store keeps it.
public protocol RecordDTO: Codable, SendableMetatype {
    /// What a record describes.
    associatedtype Entity: Identifiable & Sendable

    /// What a list of these records is called in messages and in keys, such as `users`.
    static var listName: String { get }

    /// The record that describes an entity.
    init(_ entity: Entity)

    /// The entity that the record describes.
    ///
    /// - Throws: a ``FieldError`` that names the field which breaks one of the entity's rules.
    func entity() throws(FieldError) -> Entity
}

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

/// A list of records, of which the sound ones have become entities and the damaged ones are named.
///
/// Of more than a thousand damaged records the others are counted and not named, so that nobody can make a program remember
/// millions of reasons.
struct RecordList<Record: RecordDTO>: Decodable {
    private static var maximumNamed: Int { 1_000 }

    private(set) var entities: [Record.Entity] = []
    private(set) var rejected: [RejectedRecord] = []
    private var unnamed = 0
    private var positionOfUnnamed: Int?

    /// Reads a list from JSON.
    ///
    /// - Throws: a ``FieldError`` if it is no list.
    init(_ json: Data) throws(FieldError) {
        self = try Self.decoded(from: json)
    }

    init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        var positions: [Record.Entity.ID: Int] = [:]
        while !elements.isAtEnd {
            let position = elements.currentIndex
            // A decoder of its own lets the list go on behind an element that cannot be decoded.
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
