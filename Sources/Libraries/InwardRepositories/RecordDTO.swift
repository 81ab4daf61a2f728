public import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The encoded form of an entity, as upstreams send it and stores keep it.
///
/// ```swift
/// struct UserDTO: RecordDTO {
///     static let listName = "users"
///     let id: Int
///     let name: String
///
///     init(_ user: User) { (id, name) = (user.id, user.name) }
///
///     func entity() throws(FieldError) -> User {
///         guard !name.isEmpty else { throw FieldError("name", "is empty") }
///         return User(id: id, name: name)
///     }
/// }
///
/// struct User: Identifiable, Sendable {
///     let id: Int
///     let name: String
/// }
/// ```
public protocol RecordDTO: Codable, SendableMetatype {
    /// The type of entity that a record describes.
    associatedtype Entity: Identifiable & Sendable

    /// The name of a list of these records in messages and keys, such as `users`. It becomes the ``Endpoint/name`` of the
    /// endpoint.
    static var listName: String { get }

    /// Creates the record of an entity.
    init(_ entity: Entity)

    /// Returns the entity that the record describes.
    ///
    /// - Throws: a ``FieldError`` that names the field, if the record breaks a rule of the entity.
    func entity() throws(FieldError) -> Entity
}

/// An entity without rules can be its own record.
///
/// ```swift
/// struct Tag: RecordDTO, Identifiable, Sendable {
///     static let listName = "tags"
///     let id: Int
///     let name: String
/// }
///
/// let tags = Endpoint(Tag.self, at: "tags")
/// ```
extension RecordDTO where Entity == Self {
    /// Creates the record of an entity that is its own record.
    public init(_ entity: Self) { self = entity }

    /// Returns the record itself.
    public func entity() throws(FieldError) -> Self { self }
}

/// A decoded list: the entities of the valid records, and a description of each damaged record.
///
/// ```swift
/// struct CommentPage: Decodable {
///     let items: RecordList<CommentDTO>
/// }
/// let envelope = Envelope(CommentPage.self) { $0.items }
/// ```
///
/// A damaged record does not make the list fail. To limit memory, at most 1,000 damaged records are described individually, and
/// the last description counts the others.
public struct RecordList<Record: RecordDTO>: Decodable, SendableMetatype {
    private static var maximumNamed: Int { 1_000 }

    /// The entities of the valid records, in order.
    public private(set) var entities: [Record.Entity] = []
    /// The descriptions of the damaged records, in order.
    public private(set) var rejected: [RejectedRecord] = []
    private var unnamed = 0
    private var positionOfUnnamed: Int?

    /// Decodes a list.
    ///
    /// - Throws: a `DecodingError` if the value is not a list.
    public init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        // Identifiers with different hashes are different, and looking up numbers is faster than looking up any identifiers.
        var hashes: Set<Int> = []
        var positions: [Int] = []
        // The positions by identifier, once two hashes are equal.
        var positionsByID: [Record.Entity.ID: Int] = [:]
        var areHashesDifferent = true
        if let count = elements.count {
            entities.reserveCapacity(count)
            hashes.reserveCapacity(count)
            positions.reserveCapacity(count)
        }
        while !elements.isAtEnd {
            let position = elements.currentIndex
            // A separate decoder for each element, so that decoding continues after an element that fails.
            let element = try elements.superDecoder()
            do throws(FieldError) {
                let entity = try Self.entity(from: element)
                if areHashesDifferent, !hashes.insert(entity.id.hashValue).inserted {
                    areHashesDifferent = false
                    for (entity, position) in zip(entities, positions) { positionsByID[entity.id] = position }
                }
                if !areHashesDifferent {
                    if let earlier = positionsByID[entity.id] {
                        throw FieldError("id", "is already used at position \(earlier)")
                    }
                    positionsByID[entity.id] = position
                }
                entities.append(entity)
                positions.append(position)
            } catch {
                reject(error, at: position)
            }
        }
        if let first = positionOfUnnamed {
            rejected.append(record(FieldError(nil, "is damaged, as are \(unnamed - 1) records after it"), at: first))
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

/// An error that names the invalid field of a record.
///
/// ```swift
/// let error = FieldError("body", "is empty")
/// print(error)  // its field “body” is empty
/// ```
public struct FieldError: Error, Hashable, CustomStringConvertible {
    private static let longestReason = 200

    /// The path of the field, such as `address.geo.lat`, or `nil` if the record as a whole is invalid.
    public let field: String?
    /// The problem, as the end of a sentence, such as `is missing`.
    public let reason: String

    /// Creates an error for a field.
    ///
    /// - Parameters:
    ///   - field: The path of the field, or `nil` if the record as a whole is invalid.
    ///   - reason: The problem, as the end of a sentence. It is cut to 200 characters.
    public init(_ field: String?, _ reason: String) {
        self.field = field
        // The reason may quote the record, which can have any length.
        self.reason = reason.excerpt(upTo: Self.longestReason)
    }

    /// Translates a decoding error into plain words.
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
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type, is Decimal.Type: "a number"
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is [Any].Type: "a list"
        default: "an object"
        }
    }
}
