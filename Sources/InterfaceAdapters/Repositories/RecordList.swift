import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A list of records, of which the sound ones have become entities and the damaged ones are named.
///
/// A list in which more than a thousand records are damaged is no list of such records: reading it ends there, so that
/// nobody can make a program remember millions of reasons.
struct RecordList<Record: RecordDTO>: Decodable {
    private static var mostRejected: Int { 1_000 }

    private(set) var entities: [Record.Entity] = []
    private(set) var rejected: [RejectedRecord] = []

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
                guard rejected.count < Self.mostRejected else {
                    throw FieldError(
                        nil,
                        "has more than \(Self.mostRejected) damaged records; at position \(position), \(error)"
                    )
                }
                rejected.append(
                    RejectedRecord(
                        list: Record.listName,
                        position: position,
                        field: error.field,
                        reason: error.reason
                    )
                )
            }
        }
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
