/// A report of damaged or incomplete data that a store no longer returns.
///
/// ```swift
/// import InwardFileStores
///
/// let store = FileRecordStore(
///     directory: URL(filePath: "data/records"),
///     reportDamage: { damage in print(damage, damage.key.map { "Fetch \($0) again." } ?? "") }
/// )
/// ```
public struct RecordDamage: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key of the lost record, or `nil` if the key is unknown or nothing is lost.
    public let key: RecordKey?
    /// The path of the file or database directory that contains the damaged bytes, or `nil` if they could not be saved or
    /// nothing is lost.
    public let path: String?
    /// What was found and how the store handled it, in complete sentences.
    public let description: String

    /// Reports a record whose bytes differ from what was stored.
    package static func damaged(_ key: RecordKey?, path: String?) -> RecordDamage {
        RecordDamage(
            key: key,
            path: path,
            description:
                "The record under “\(key?.description ?? "")” is damaged and was removed. \(fate(path))"
        )
    }

    /// Reports a part of the file whose contents are unknown.
    package static func unknown(byteCount: Int, isLast: Bool, path: String?) -> RecordDamage {
        let origin =
            isLast ? "are incomplete or damaged" : "are damaged; their contents are not known"
        let place = isLast ? "The last \(byteCount) bytes" : "\(byteCount) bytes in the middle"
        return RecordDamage(key: nil, path: path, description: "\(place) \(origin). \(fate(path))")
    }

    /// Reports commit headers that were damaged or not written, and were restored.
    package static func restored(_ count: Int) -> RecordDamage {
        RecordDamage(
            key: nil,
            path: nil,
            description:
                "The headers of \(count) commits were damaged or not written, and are restored. Nothing is lost."
        )
    }

    /// Reports a log that was removed while it was in use, with the number of records that it contained.
    package static func vanished(_ count: Int, path: String) -> RecordDamage {
        RecordDamage(
            key: nil,
            path: nil,
            description: """
                “\(path)” was removed while it was in use, with \(count) records. It is created again without them. Do not let other \
                programs change the directory.
                """
        )
    }

    /// Reports a database that cannot be read completely. Its readable records were copied into a new one.
    package static func database(_ reason: String, restoredCount: Int, path: String) -> RecordDamage {
        RecordDamage(
            key: nil,
            path: path,
            description:
                "The database is damaged: \(reason). \(restoredCount) of its records are in a new one; the rest is in “\(path)”."
        )
    }

    private static func fate(_ path: String?) -> String {
        path.map { "The bytes are in “\($0)”." } ?? "The bytes could not be saved."
    }
}

/// The records that a store lost to damage.
///
/// ```swift
/// func warn(about store: any RecordStore) async throws {
///     let losses = try await store.losses(under: ["outbox"])
///     for key in losses.keys { print("The record \(key) is lost.") }
/// }
/// ```
///
/// Only records without an expiry count. They must not vanish silently, because other records may depend on them. For example,
/// the later writes in an outbox depend on the earlier ones.
public struct RecordLosses: Hashable, Sendable {
    /// The keys of the lost records, in order. A key leaves the list when a commit keeps or removes something under it.
    public let keys: [RecordKey]
    /// The number of times the store found damage and could not tell which keys were affected.
    ///
    /// The number covers the whole store, regardless of the requested key, and never decreases. To notice new damage, keep the
    /// last number in a record and compare.
    public let unknownCount: Int

    /// Creates a list of losses.
    public init(keys: [RecordKey] = [], unknownCount: Int = 0) {
        self.keys = keys
        self.unknownCount = unknownCount
    }
}
