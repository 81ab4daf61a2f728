public import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the entities of an endpoint are updated and deleted, and what happens if somebody else has changed one in the meantime.
///
///     let comments = Endpoint(CommentDTO.self, at: "comments", editing: Editing(.patch, onConflict: .ask))
///
/// A write of an entity that was read with an entity tag names that tag in `If-Match` (RFC 9110 section 13.1.1), so the upstream
/// refuses it if it has another version by now.
public struct Editing<Entity: Sendable>: Sendable {
    /// How an update is sent.
    public enum Update: Hashable, Sendable {
        /// `PUT` with the whole record.
        case put
        /// `PATCH` with the fields that change, as a JSON merge patch (RFC 7396). The endpoint's format must be JSON.
        case patch
    }

    let update: Update?
    let allowsDeletion: Bool
    let rule: ConflictRule<Entity>

    /// Creates a description of what the upstream allows.
    ///
    /// - Parameters:
    ///   - update: How an update is sent; `nil` if entities cannot be updated.
    ///   - allowsDeletion: Whether entities can be deleted, with `DELETE`.
    ///   - rule: What happens if the upstream refuses a write because it has another version (409 or 412).
    public init(_ update: Update?, allowsDeletion: Bool = true, onConflict rule: ConflictRule<Entity> = .ask) {
        self.update = update
        self.allowsDeletion = allowsDeletion
        self.rule = rule
    }
}

/// What happens to a write that the upstream refuses because it has another version than the one the write was made for.
public enum ConflictRule<Entity: Sendable>: Sendable {
    /// A write that is sent immediately throws ``WriteError/conflict(_:)``. A write in an outbox becomes a dead letter with both
    /// versions, which ``Repository/conflicts()`` returns until ``Repository/resolve(_:_:)`` decides.
    case ask
    /// The write is sent again, for the upstream's version.
    case mine
    /// The write is dropped in favor of the upstream's version.
    case theirs
    /// The entity that the closure makes of both versions is sent; `nil` asks.
    case merge(@Sendable (WriteConflict<Entity>) -> Entity?)
}

/// Two versions of an entity, of which only one can be kept.
///
///     do {
///         try await comments.update(7) { $0.body = "Well said." }
///     } catch .conflict(let conflict) {
///         show(conflict.mine, beside: conflict.theirs)
///     }
public struct WriteConflict<Entity: Sendable>: Sendable, CustomStringConvertible {
    /// How many times a conflicting write is sent before its rule gives up.
    static var maximumAttempts: Int { 5 }

    /// The entity as it was to become; `nil` if it was to be deleted. For a patch sent by an outbox, the upstream's
    /// entity with the patch applied; `nil` if it cannot be applied.
    public let mine: Entity?
    /// The entity that the upstream has; `nil` if it was deleted there.
    public let theirs: Entity?
    /// The refusal, which names the request.
    public let refusal: RepositoryError

    /// Creates a conflict.
    public init(mine: Entity?, theirs: Entity?, refusal: RepositoryError) {
        self.mine = mine
        self.theirs = theirs
        self.refusal = refusal
    }

    /// The refusal and what to do, as a sentence without its full stop.
    public var description: String {
        "\(refusal): the upstream has another version, so nothing was changed; read it again and decide"
    }
}

/// Why an entity was not updated or deleted.
public enum WriteError<Entity: Sendable>: Error, CustomStringConvertible {
    /// The upstream has another version, and the endpoint's ``ConflictRule`` does not decide between them. The next read returns
    /// the upstream's.
    case conflict(WriteConflict<Entity>)
    /// Anything else.
    case failed(RepositoryError)

    /// The error without the versions.
    public var repositoryError: RepositoryError {
        switch self {
        case .conflict(let conflict): conflict.refusal
        case .failed(let error): error
        }
    }

    /// What happened, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .conflict(let conflict): conflict.description
        case .failed(let error): error.description
        }
    }
}

extension WriteError: ProblemDetailsConvertible {
    /// The response of a server that shows the error, without the versions.
    public var problemDetails: ProblemDetails {
        switch self {
        case .conflict: .conflict
        case .failed(let error): ProblemDetails(error)
        }
    }
}

/// The part of a request that says how an entity changes.
struct EditRequest {
    static let deletion = EditRequest(method: .delete, contentType: JSONFormat.mediaType, body: nil)

    let method: DataRequest.Method
    let contentType: String
    let body: Data?
}

extension Endpoint {
    /// Returns the request that turns one version of an entity into another; `nil` if a patch would change nothing.
    ///
    /// - Parameters:
    ///   - old: The version to change.
    ///   - new: The version to make of it.
    ///   - isPatch: Whether to make a patch even for a `PUT`, of which a record is made when it is sent. The record of an entity
    ///     whose creation is pending would contain an identifier that is not the upstream's; and the record behind another pending
    ///     write would repeat that one.
    /// - Returns: the request.
    /// - Throws: an error if the entity cannot be encoded, or the endpoint does not support updates.
    func update(from old: Entity, to new: Entity, isPatch: Bool = false) throws -> EditRequest? {
        guard let update = editing?.update else { throw FieldError(nil, "cannot be updated at this endpoint") }
        guard update == .patch || isPatch else {
            return EditRequest(method: .put, contentType: format.mediaType, body: try encode(new))
        }
        guard let patch = MergePatch(from: try encode(old), to: try encode(new)) else {
            throw FieldError(nil, "is not JSON, which a patch and an update behind a pending write must be")
        }
        if patch.isEmpty { return nil }
        return EditRequest(
            method: update == .put ? .put : .patch,
            contentType: MergePatch.mediaType,
            body: try patch.encoded()
        )
    }

    /// Returns whether two versions of an entity have the same record.
    func isSame(_ first: Entity, _ second: Entity) -> Bool {
        guard let first = try? encode(first), let second = try? encode(second) else { return false }
        // The order of the members of a JSON object has no meaning.
        return MergePatch(from: first, to: second)?.isEmpty ?? (first == second)
    }

    /// Returns an entity with a patch applied; `nil` if the result is not valid.
    func patched(_ entity: Entity, by patch: MergePatch) -> Entity? {
        guard let old = try? encode(entity), let new = patch.applied(to: old), let result = try? decodeStored(new)
        else {
            return nil
        }
        return result.id == entity.id ? result : nil
    }
}

/// A JSON merge patch (RFC 7396): the members of an object that change, with `null` for those that are removed.
struct MergePatch: Hashable, Sendable {
    static let mediaType = "application/merge-patch+json"

    private let value: JSONValue

    /// Decodes a patch; `nil` if the text is not valid JSON.
    init?(_ json: Data) {
        guard let value = JSONValue(json) else { return nil }
        self.value = value
    }

    /// Creates the patch that turns one text into another; `nil` if one of them is not valid JSON.
    init?(from old: Data, to new: Data) {
        guard let old = JSONValue(old), let new = JSONValue(new) else { return nil }
        value = Self.difference(from: old, to: new)
    }

    /// Whether the patch changes nothing.
    var isEmpty: Bool { value == .object([:]) }

    /// The encoded patch.
    ///
    /// - Throws: an `EncodingError` if a number cannot be encoded.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// Returns a text with the patch applied; `nil` if the text is not valid JSON.
    func applied(to json: Data) -> Data? {
        guard let target = JSONValue(json) else { return nil }
        return try? JSONEncoder().encode(Self.merged(value, into: target))
    }

    /// Merges as RFC 7396 section 2 says.
    private static func merged(_ patch: JSONValue, into target: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [String: JSONValue] = if case .object(let members) = target { members } else { [:] }
        for (name, change) in changes {
            members[name] = change == .null ? nil : merged(change, into: members[name] ?? .null)
        }
        return .object(members)
    }

    private static func difference(from old: JSONValue, to new: JSONValue) -> JSONValue {
        guard case .object(let before) = old, case .object(let after) = new else { return new }
        var changes: [String: JSONValue] = [:]
        for (name, value) in after where before[name] != value {
            changes[name] = before[name].map { difference(from: $0, to: value) } ?? value
        }
        for name in before.keys where after[name] == nil { changes[name] = .null }
        return .object(changes)
    }
}

/// Any JSON value. A whole number of 64 bits with a sign is kept as it is; any other number is kept as a `Double`.
private enum JSONValue: Hashable, Codable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init?(_ json: Data) {
        guard let value = try? JSONDecoder().decode(Self.self, from: json) else { return nil }
        self = value
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Self].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Self].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
