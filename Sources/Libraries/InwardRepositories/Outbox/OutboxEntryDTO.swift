import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored form of an entry without its name: JSON with a version. Later versions of the program can read it. Earlier ones
/// notice that it is too new for them.
struct OutboxEntryDTO: Codable {
    /// Why stored bytes are not a valid entry.
    enum Problem: Error, Hashable {
        /// A later version of the program wrote it.
        case newer(version: Int)
        /// It is damaged. The associated value describes the damage, as the end of a sentence.
        case damaged(String)
    }

    /// Decoded first, so that newer versions need not share any other field.
    private struct Envelope: Decodable {
        let version: Int
    }

    /// Decoded first from a record that has an entry in its member `entry`.
    private struct Outline: Decodable {
        let entry: Envelope
    }

    /// Entries of version 1 may have been sent without a note. Since version 2, an ``AttemptNote`` precedes each attempt.
    /// Version 3 adds the fields after ``acceptedAt``. An entry that needs none of them is written as version 2, which earlier
    /// versions of the program can send.
    static let version = 3

    let version: Int
    let endpoint: String
    let method: String
    let path: String
    let body: Data?
    /// In milliseconds since 1970.
    let acceptedAt: Int64
    /// The media type of the body, or `nil` for JSON.
    let contentType: String?
    let entityID: String?
    /// The entity tag of the version that the write was made for.
    let entityTag: String?
    /// Whether the write was made for the version that results from the previous write.
    let followsPrevious: Bool?
    /// How often a conflict has changed the write, or `nil` for never.
    let revision: Int?

    init(_ entry: OutboxEntry) {
        let write = entry.write
        contentType = write.contentType == JSONFormat.mediaType ? nil : write.contentType
        entityID = write.entityID
        entityTag = if case .entityTag(let tag) = write.version { tag } else { nil }
        followsPrevious = write.version == .previousWrite ? true : nil
        revision = write.revision == 0 ? nil : write.revision
        let isPlain = (contentType, entityID, entityTag, followsPrevious, revision) == (nil, nil, nil, nil, nil)
        version = isPlain ? 2 : Self.version
        endpoint = entry.write.endpoint
        method = entry.write.method.rawValue
        path = entry.write.path
        body = entry.write.body.map { Data($0) }
        acceptedAt = entry.acceptedAt.wholeMilliseconds
    }

    /// Encodes an entry.
    static func bytes(of entry: OutboxEntry) throws(RecordStoreError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(Self(entry)))
        } catch {
            throw RecordStoreError(.denied, explanation: "The write \(entry.write) cannot be encoded for the store.")
        }
    }

    /// Decodes an entry.
    static func entry(
        from bytes: [UInt8],
        named name: OutboxEntryName,
        attempts: Int
    ) -> Result<OutboxEntry, Problem> {
        do {
            let version = try Envelope.decoded(from: Data(bytes)).version
            guard version <= Self.version else { return .failure(.newer(version: version)) }
            return try Self.decoded(from: Data(bytes)).entry(named: name, attempts: attempts)
        } catch {
            return .failure(.damaged("\(error)"))
        }
    }

    /// Decodes a record that has an entry in its member `entry`.
    ///
    /// - Throws: why it cannot be used.
    static func enclosing<Record: Decodable & SendableMetatype>(
        _ record: Record.Type,
        _ bytes: [UInt8]
    ) throws(Problem) -> Record {
        do {
            let version = try Outline.decoded(from: Data(bytes)).entry.version
            guard version <= Self.version else { throw Problem.newer(version: version) }
            return try Record.decoded(from: Data(bytes))
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .damaged("\(error)")
        }
    }

    /// Returns whether an entry may have been sent although no attempt is noted.
    static func mayHaveBeenSentWithoutNote(_ bytes: [UInt8]) -> Bool {
        ((try? Envelope.decoded(from: Data(bytes)).version) ?? 1) < 2
    }

    /// Returns the entry with a name.
    func entry(
        named name: OutboxEntryName,
        attempts: Int,
        pendingNumber: Int? = nil
    ) -> Result<OutboxEntry, Problem> {
        guard let method = DataRequest.Method(method) else {
            return .failure(.damaged("\(FieldError("method", "is not an HTTP method"))"))
        }
        let entry = OutboxEntry(
            sequence: name.sequence,
            write: OutboxWrite(
                endpoint: endpoint,
                subject: name.subject,
                method: method,
                path: path,
                body: body.map { Array($0) },
                contentType: contentType ?? JSONFormat.mediaType,
                entityID: entityID,
                version: entityTag.map { .entityTag($0) } ?? (followsPrevious == true ? .previousWrite : .any),
                revision: max(0, revision ?? 0)
            ),
            idempotencyKey: name.idempotencyKey,
            // Clamped to the range that can be stored, so that storing the entry again does not change it.
            acceptedAt: Date(timeIntervalSince1970: Double(acceptedAt) / 1_000).roundedToMilliseconds,
            attempts: attempts,
            pendingNumber: pendingNumber
        )
        return .success(entry)
    }
}

extension Date {
    /// The milliseconds since 1970, clamped to a representable range.
    var wholeMilliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        return Int64(exactly: max(-1e15, min(1e15, milliseconds))) ?? 0
    }

    /// The time in whole milliseconds, the precision in which times are stored.
    var roundedToMilliseconds: Date { Date(timeIntervalSince1970: Double(wholeMilliseconds) / 1_000) }
}

/// The stored note about the attempts to deliver an entry: JSON, separate from the entry.
///
/// It is written before an entry is sent, so that a later process knows whether the entry may have arrived. It is written again
/// after a failed attempt, so that waits and `Retry-After` survive a restart.
struct AttemptNote: Codable, Hashable {
    /// The limit prevents an overflow if a record contains a larger number. Waits reach their maximum long before.
    private static let maximumAttempts = 1_000_000

    private static let version = 1
    /// The note of an entry that is sent for the first time. Most notes are equal to it, so it is encoded only once.
    private static let first = AttemptNote(attempts: 0, mayHaveArrived: false, isSending: true)
    private static let firstBytes = first.encoded

    let version: Int
    /// The number of failed attempts.
    let attempts: Int
    /// Whether an attempt may have arrived, although no response came.
    let mayHaveArrived: Bool
    /// Whether an attempt was about to begin.
    let isSending: Bool
    /// When the next attempt is due, in milliseconds since 1970, or `nil` if it is due immediately.
    let nextAttempt: Int64?
    /// Why the last attempt failed.
    let cause: String?
    /// Whether it failed because the credentials were not valid, or `nil` if it did not.
    private let denied: Bool?
    /// When the first attempt began, in milliseconds since 1970, or `nil` if it is not known.
    private let firstAttempt: Int64?
    /// Whether the entry is not sent until somebody decides, or `nil` if it is.
    private let held: Bool?
    /// The number of 409 responses so far, or `nil` for none.
    private let busyCount: Int?

    init(
        attempts: Int,
        mayHaveArrived: Bool,
        isSending: Bool = false,
        nextAttempt: Date? = nil,
        cause: String? = nil,
        isDenied: Bool = false,
        firstAttempt: Date? = nil,
        isHeld: Bool = false,
        conflicts: Int = 0
    ) {
        version = Self.version
        self.firstAttempt = firstAttempt?.wholeMilliseconds
        held = isHeld ? true : nil
        busyCount = conflicts > 0 ? conflicts : nil
        self.attempts = attempts
        self.mayHaveArrived = mayHaveArrived
        self.isSending = isSending
        self.nextAttempt = nextAttempt?.wholeMilliseconds
        self.cause = cause?.causeExcerpt
        denied = isDenied ? true : nil
    }

    /// Whether the last attempt failed because the credentials were not valid.
    var isDenied: Bool { denied ?? false }

    /// Whether the entry is not sent until somebody decides.
    var isHeld: Bool { held ?? false }

    /// The number of 409 responses so far.
    var conflicts: Int { busyCount ?? 0 }

    /// When the first attempt began.
    var firstAttemptDate: Date? { firstAttempt.map { Date(timeIntervalSince1970: Double($0) / 1_000) } }

    /// Decodes a note. An unreadable note counts as an attempt that may have arrived.
    init(_ bytes: [UInt8]) {
        if let note = try? Self.decoded(from: Data(bytes)), note.version == Self.version {
            self = note.clamped
        } else {
            // The first version stored only the number of attempts.
            let attempts = Int(String(decoding: bytes, as: UTF8.self)) ?? 0
            self = Self(attempts: attempts, mayHaveArrived: true).clamped
        }
    }

    /// The encoded note.
    var bytes: [UInt8] { self == Self.first ? Self.firstBytes : encoded }

    private var encoded: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

    /// When the next attempt is due.
    var nextAttemptDate: Date? { nextAttempt.map { Date(timeIntervalSince1970: Double($0) / 1_000) } }

    private var clamped: Self {
        Self(
            attempts: min(max(0, attempts), Self.maximumAttempts),
            mayHaveArrived: mayHaveArrived,
            isSending: isSending,
            nextAttempt: nextAttemptDate,
            cause: cause,
            isDenied: isDenied,
            firstAttempt: firstAttemptDate,
            isHeld: isHeld,
            conflicts: min(max(0, conflicts), Self.maximumAttempts)
        )
    }
}

/// The stored form of a dead letter: its entry, why it was refused, and when.
struct DeadLetterDTO: Codable {
    /// Both versions of the resource.
    struct Conflict: Codable {
        let mine: Data?
        let theirs: Data?
        let entityTag: String?
    }

    let entry: OutboxEntryDTO
    let attempts: Int
    let cause: String
    /// In milliseconds since 1970.
    let refusedAt: Int64
    /// What the write conflicts with, or `nil` if it was refused for another reason or by an earlier version of the program.
    let conflict: Conflict?

    init(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        _ conflict: OutboxConflict? = nil,
        at date: Date
    ) {
        self.entry = OutboxEntryDTO(entry)
        // The refused attempt counts, too.
        attempts = entry.attempts + 1
        cause = error.description.causeExcerpt
        refusedAt = date.wholeMilliseconds
        self.conflict = conflict.map {
            Conflict(mine: $0.mine.map { Data($0) }, theirs: $0.theirs.map { Data($0) }, entityTag: $0.entityTag)
        }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        entry = try members.decode(OutboxEntryDTO.self, forKey: .entry)
        attempts = try members.decode(Int.self, forKey: .attempts)
        cause = try members.decode(String.self, forKey: .cause)
        refusedAt = try members.decode(Int64.self, forKey: .refusedAt)
        // Without the versions, the write can still be retried.
        conflict = try? members.decodeIfPresent(Conflict.self, forKey: .conflict)
    }

    /// Encodes the dead letter.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be encoded.
    func bytes() throws(RecordStoreError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(self))
        } catch {
            throw RecordStoreError(.denied, explanation: "The refused write cannot be encoded for the store.")
        }
    }

    /// Decodes a dead letter as a list item.
    static func item(from bytes: [UInt8], named name: OutboxEntryName) -> OutboxItem {
        do throws(OutboxEntryDTO.Problem) {
            let letter = try OutboxEntryDTO.enclosing(Self.self, bytes)
            let entry = try letter.entry.entry(named: name, attempts: max(0, letter.attempts)).get()
            let conflict = letter.conflict.map {
                OutboxConflict(
                    mine: $0.mine.map { Array($0) },
                    theirs: $0.theirs.map { Array($0) },
                    entityTag: $0.entityTag
                )
            }
            return OutboxItem(
                id: entry.idempotencyKey,
                state: .refused(at: Date(timeIntervalSince1970: Double(letter.refusedAt) / 1_000)),
                write: entry.write,
                acceptedAt: entry.acceptedAt,
                attempts: entry.attempts,
                cause: letter.cause.causeExcerpt,
                conflict: conflict,
                byteCount: entry.write.byteCount + (conflict?.byteCount ?? 0)
            )
        } catch {
            return OutboxItem(unreadable: name.idempotencyKey, .init(error), byteCount: bytes.count)
        }
    }
}

extension OutboxItem {
    /// Creates the item of a record that cannot be read.
    init(unreadable id: String, _ reason: UndeliverableEntryError.Reason, byteCount: Int) {
        self.init(
            id: id,
            state: .undeliverable(reason),
            write: nil,
            acceptedAt: nil,
            attempts: 0,
            cause: "It \(reason)",
            byteCount: byteCount
        )
    }
}

extension UndeliverableEntryError.Reason {
    init(_ problem: OutboxEntryDTO.Problem) {
        self =
            switch problem {
            case .newer(let version): .newer(version: version)
            case .damaged(let problem): .damaged(problem)
            }
    }
}
