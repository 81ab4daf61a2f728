#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
