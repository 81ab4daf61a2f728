/// Something of a store of records that was damaged, or written in part, and is not given any more.
public struct RecordDamage: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was kept under this key is lost; `nil` if it is not known what was, or nothing is lost.
    public let key: RecordKey?
    /// The path of what the damaged bytes are in, a file or the directory of a database; `nil` if they could not be put anywhere,
    /// or nothing is lost.
    public let path: String?
    /// What was found and what became of it, as whole sentences.
    public let description: String

    /// A record whose bytes are not those that were kept.
    package static func damaged(_ key: RecordKey?, path: String?) -> RecordDamage {
        RecordDamage(
            key: key,
            path: path,
            description:
                "What was kept under “\(key?.description ?? "")” is damaged and removed. \(fate(path))"
        )
    }

    /// A part of the file whose contents are unknown.
    package static func unknown(byteCount: Int, isLast: Bool, path: String?) -> RecordDamage {
        let origin =
            isLast ? "were written in part, or are damaged" : "are damaged; what they said is not known"
        let place = isLast ? "The last \(byteCount) bytes" : "\(byteCount) bytes amid others"
        return RecordDamage(key: nil, path: path, description: "\(place) \(origin). \(fate(path))")
    }

    /// Heads of commits that were damaged, or not written any more, and are known nevertheless.
    package static func restored(_ count: Int) -> RecordDamage {
        RecordDamage(
            key: nil,
            path: nil,
            description: "What \(count) commits say was damaged and is restored. Nothing is lost."
        )
    }

    /// A log that is not there any more, with so many records in it.
    package static func vanished(_ count: Int, path: String) -> RecordDamage {
        RecordDamage(
            key: nil,
            path: nil,
            description: """
                “\(path)” was taken away while it was in use, with \(count) records. It is made anew, without them. Let nobody else \
                change what is there.
                """
        )
    }

    /// A database that cannot be read completely. Its readable records were copied into a new one.
    package static func database(_ reason: String, restoredCount: Int, path: String) -> RecordDamage {
        RecordDamage(
            key: nil,
            path: path,
            description:
                "The database is damaged: \(reason). \(restoredCount) records of it are in a new one; the rest is in “\(path)”."
        )
    }

    private static func fate(_ path: String?) -> String {
        path.map { "The bytes are in “\($0)”." } ?? "The bytes could not be put anywhere."
    }
}

/// The records that a store lost to damage.
///
/// A record without an expiry must not vanish in silence: other records may depend on it, as the later writes of an outbox depend
/// on the earlier ones. So a store remembers which of them it lost.
public struct RecordLosses: Hashable, Sendable {
    /// The keys of the lost records, in order. A key leaves the list when a commit keeps or removes something under it.
    public let keys: [RecordKey]
    /// How many times the store found damage and could not tell which keys it hit.
    ///
    /// The number covers the whole store, whatever key it was asked for, and never decreases. To notice new damage, keep the last
    /// number seen in a record and compare.
    public let unknownCount: Int

    /// Creates a list of losses.
    public init(keys: [RecordKey] = [], unknownCount: Int = 0) {
        self.keys = keys
        self.unknownCount = unknownCount
    }
}
