public import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The updates and deletions that an endpoint accepts, and the rule for conflicts.
///
/// ```swift
/// let endpoint = Endpoint(CommentDTO.self, at: "comments", editing: Editing(.patch, onConflict: .theirs))
/// ```
///
/// A conflict means that the entity has changed at the upstream since it was read. To detect one, the `If-Match` of a write
/// names the entity tag of the version that the write changes (RFC 9110 section 13.1.1), and the upstream refuses the write if
/// it has another version. Without an entity tag, a write is unconditional.
public struct Editing<Entity: Sendable>: Sendable {
    /// The request that sends an update.
    public enum Update: Hashable, Sendable {
        /// `PUT` with the complete record.
        case put
        /// `PATCH` with the fields that change, as a JSON merge patch (RFC 7396). The endpoint's format must be JSON.
        case patch
    }

    let update: Update?
    let allowsDeletion: Bool
    let rule: ConflictRule<Entity>

    /// Creates a description of the writes that the upstream accepts.
    ///
    /// - Parameters:
    ///   - update: The request that sends an update, or `nil` if entities cannot be updated.
    ///   - allowsDeletion: Whether entities can be deleted, with `DELETE`.
    ///   - rule: The rule for a write that the upstream refuses because it has another version (status 409 or 412).
    public init(_ update: Update?, allowsDeletion: Bool = true, onConflict rule: ConflictRule<Entity> = .ask) {
        self.update = update
        self.allowsDeletion = allowsDeletion
        self.rule = rule
    }
}

/// The rule for a conflict: a write that the upstream refuses because the entity has changed there.
///
/// ```swift
/// let keepBoth = ConflictRule<Comment>.merge { conflict in
///     guard let mine = conflict.mine, var merged = conflict.theirs else { return nil }
///     merged.body += "\n" + mine.body
///     return merged
/// }
/// ```
public enum ConflictRule<Entity: Sendable>: Sendable {
    /// Leaves the decision to the caller. A write that is sent immediately throws ``WriteError/conflict(_:)``. A write in an
    /// outbox becomes a dead letter with both versions. ``Repository/conflicts()`` returns it until
    /// ``Repository/resolve(_:_:)`` decides.
    case ask
    /// Sends the write again, with the entity tag of the upstream's version.
    case mine
    /// Drops the write and keeps the upstream's version.
    case theirs
    /// Sends the entity that the closure makes from both versions. If the closure returns `nil`, the conflict is handled as
    /// with ``ask``.
    case merge(@Sendable (WriteConflict<Entity>) -> Entity?)
}

/// Two versions of an entity in conflict: the caller's and the upstream's.
///
/// ```swift
/// do {
///     try await comments.update(7) { $0.body = "Well said." }
/// } catch .conflict(let conflict) {
///     print("Yours:", conflict.mine?.body ?? "deleted")
///     print("Theirs:", conflict.theirs?.body ?? "deleted")
/// } catch .failed(let error) {
///     print(error)
/// }
/// ```
public struct WriteConflict<Entity: Sendable>: Sendable, CustomStringConvertible {
    /// The number of conflicts of a write at which its rule gives up. An outbox counts the revisions of the write instead, so
    /// there the rule gives up one conflict later.
    static var maximumAttempts: Int { 5 }

    /// The caller's version, or `nil` if the caller deletes the entity. For a patch from an outbox, this is the upstream's
    /// version with the patch applied, or `nil` if the patch cannot be applied.
    public let mine: Entity?
    /// The upstream's version, or `nil` if the entity was deleted there.
    public let theirs: Entity?
    /// The upstream's refusal, which names the request.
    public let refusal: RepositoryError

    /// Creates a conflict, to test code that displays it.
    public init(mine: Entity?, theirs: Entity?, refusal: RepositoryError) {
        self.mine = mine
        self.theirs = theirs
        self.refusal = refusal
    }

    /// The refusal and what to do, as a sentence without its full stop.
    public var description: String {
        "\(refusal): the upstream has another version, so nothing was changed; read it again and decide which version to keep"
    }
}

/// The error of an update or a deletion.
///
/// ```swift
/// do {
///     try await comments.delete(7)
/// } catch {
///     print("Comment 7 was not deleted: \(error.repositoryError)")
/// }
/// ```
public enum WriteError<Entity: Sendable>: Error, CustomStringConvertible {
    /// The upstream has another version, and the endpoint's ``ConflictRule`` does not decide. The next read returns the
    /// upstream's version.
    case conflict(WriteConflict<Entity>)
    /// Any other failure.
    case failed(RepositoryError)

    /// The error without the versions.
    public var repositoryError: RepositoryError {
        switch self {
        case .conflict(let conflict): conflict.refusal
        case .failed(let error): error
        }
    }

    /// The error as a sentence without its full stop.
    public var description: String {
        switch self {
        case .conflict(let conflict): conflict.description
        case .failed(let error): error.description
        }
    }
}

extension WriteError: ProblemDetailsConvertible {
    /// The problem details for an HTTP response about this error, without the versions.
    public var problemDetails: ProblemDetails {
        switch self {
        case .conflict: .conflict
        case .failed(let error): ProblemDetails(error)
        }
    }
}

/// The method and the body of an update or a deletion.
struct EditRequest {
    static let deletion = EditRequest(method: .delete, contentType: JSONFormat.mediaType, body: nil)

    let method: DataRequest.Method
    let contentType: String
    let body: Data?
}

extension Endpoint {
    /// Returns the request that turns one version of an entity into another, or `nil` if a patch would change nothing.
    ///
    /// - Parameters:
    ///   - old: The version to change.
    ///   - new: The version to make of it.
    ///   - isPatch: Whether to make a patch even if updates are sent with `PUT`. The patch becomes a record when it is sent. A
    ///     record made now would contain a pending identifier if the creation is pending, and would repeat any other pending
    ///     write.
    /// - Returns: the request.
    /// - Throws: an error if the entity cannot be encoded or the endpoint does not accept updates.
    func update(from old: Entity, to new: Entity, isPatch: Bool = false) throws -> EditRequest? {
        guard let update = editing?.update else { throw FieldError(nil, "cannot be updated at this endpoint") }
        guard update == .patch || isPatch else {
            return EditRequest(method: .put, contentType: format.mediaType, body: try encode(new))
        }
        guard let patch = MergePatch(from: try encode(old), to: try encode(new)) else {
            throw FieldError(nil, "is not JSON, which patches and updates after a pending write require")
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
        // Ignores the order of the members of a JSON object.
        return MergePatch(from: first, to: second)?.isEmpty ?? (first == second)
    }

    /// Returns an entity with a patch applied, or `nil` if the result is not valid.
    func patched(_ entity: Entity, by patch: MergePatch) -> Entity? {
        guard let old = try? encode(entity), let new = patch.applied(to: old), let result = try? decodeStored(new)
        else {
            return nil
        }
        return result.id == entity.id ? result : nil
    }
}

/// A JSON merge patch (RFC 7396): the members of an object that change, with `null` for each removed member.
struct MergePatch: Hashable, Sendable {
    static let mediaType = "application/merge-patch+json"

    private let value: JSONValue

    /// Decodes a patch. Returns `nil` if the text is not valid JSON.
    init?(_ json: Data) {
        guard let value = JSONValue(json) else { return nil }
        self.value = value
    }

    /// Creates the patch that turns one text into another. Returns `nil` if one of them is not valid JSON.
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

    /// Returns a text with the patch applied, or `nil` if the text is not valid JSON.
    func applied(to json: Data) -> Data? {
        guard let target = JSONValue(json) else { return nil }
        return try? JSONEncoder().encode(Self.merged(value, into: target))
    }

    /// Returns a value with a patch merged into it, as defined in RFC 7396 section 2.
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

/// A JSON value. Numbers that fit in `Int64` stay exact. All others become `Double`.
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
