import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is kept of an entry beside its name: JSON with a version, so that a later program knows what an earlier one meant, and an
/// earlier one that it does not know what a later one does.
struct OutboxEntryDTO: Codable {
    /// Why what is kept is no entry.
    enum Problem: Error, Hashable {
        /// A later program wrote it.
        case newer(version: Int)
        /// Nobody's program wrote it like this; how that shows is the end of a sentence.
        case damaged(String)
    }

    /// What is read first, so that a newer version need have nothing else in common.
    private struct Envelope: Decodable {
        let version: Int
    }

    /// Entries of version 1 may have been sent without a note of it. From version 2 on, an ``AttemptNote`` precedes each attempt.
    static let version = 2

    let version: Int
    let endpoint: String
    let method: String
    let path: String
    let body: Data?
    /// In milliseconds since 1970.
    let acceptedAt: Int64

    init(_ entry: OutboxEntry) {
        version = Self.version
        endpoint = entry.write.endpoint
        method = entry.write.method.rawValue
        path = entry.write.path
        body = entry.write.body.map { Data($0) }
        acceptedAt = entry.acceptedAt.wholeMilliseconds
    }

    /// The bytes to keep of an entry.
    static func bytes(of entry: OutboxEntry) throws(RecordStoreError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(Self(entry)))
        } catch {
            throw RecordStoreError(.denied, explanation: "The write \(entry.write) cannot be kept: it is no JSON.")
        }
    }

    /// Reads an entry; or tells why it is none.
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

    /// Whether an entry may have been sent although no attempt is noted.
    static func mayHaveBeenSentWithoutNote(_ bytes: [UInt8]) -> Bool {
        ((try? Envelope.decoded(from: Data(bytes)).version) ?? 1) < 2
    }

    /// The entry of a name.
    func entry(named name: OutboxEntryName, attempts: Int) -> Result<OutboxEntry, Problem> {
        guard let method = DataRequest.Method(method) else {
            return .failure(.damaged("\(FieldError("method", "is none"))"))
        }
        let entry = OutboxEntry(
            sequence: name.sequence,
            write: OutboxWrite(
                endpoint: endpoint,
                subject: name.subject,
                method: method,
                path: path,
                body: body.map { Array($0) }
            ),
            idempotencyKey: name.idempotencyKey,
            // Within the numbers that are written, so that an entry that is kept again is the same.
            acceptedAt: Date(timeIntervalSince1970: Double(acceptedAt) / 1_000).roundedToMilliseconds,
            attempts: attempts
        )
        return .success(entry)
    }
}

extension Date {
    /// The milliseconds since 1970, of a time that has any within a number.
    var wholeMilliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        return Int64(exactly: max(-1e15, min(1e15, milliseconds))) ?? 0
    }

    /// The time to a thousandth of a second, which is what is kept of it.
    var roundedToMilliseconds: Date { Date(timeIntervalSince1970: Double(wholeMilliseconds) / 1_000) }
}

/// What an outbox keeps about the attempts to deliver an entry: JSON, beside the entry.
///
/// It is written before an entry is sent, so that a later process knows whether the entry may have arrived, and after an attempt
/// in vain, so that waits and `Retry-After` go on where they were.
struct AttemptNote: Codable, Hashable {
    /// More make no wait longer. Whatever a record says, they can still be counted.
    private static let maximumAttempts = 1_000_000
    private static let maximumCauseLength = 500

    private static let version = 1

    let version: Int
    /// How many attempts were made in vain.
    let attempts: Int
    /// Whether an attempt may have arrived without an answer.
    let mayHaveArrived: Bool
    /// Whether an attempt was about to begin.
    let isSending: Bool
    /// When the next attempt is due, in milliseconds since 1970; `nil` if it is due at once.
    let nextAttempt: Int64?
    /// Why the last attempt was in vain.
    let cause: String?
    /// Whether that was for want of valid credentials; `nil` if it was not.
    private let denied: Bool?

    init(
        attempts: Int,
        mayHaveArrived: Bool,
        isSending: Bool = false,
        nextAttempt: Date? = nil,
        cause: String? = nil,
        isDenied: Bool = false
    ) {
        version = Self.version
        self.attempts = attempts
        self.mayHaveArrived = mayHaveArrived
        self.isSending = isSending
        self.nextAttempt = nextAttempt?.wholeMilliseconds
        self.cause = cause?.excerpt(upTo: Self.maximumCauseLength)
        denied = isDenied ? true : nil
    }

    /// Whether the last attempt failed for want of valid credentials.
    var isDenied: Bool { denied ?? false }

    /// Reads a note. What cannot be read counts as an attempt that may have arrived.
    init(_ bytes: [UInt8]) {
        if let note = try? Self.decoded(from: Data(bytes)), note.version == Self.version {
            self = note.clamped
        } else {
            // The first version kept the number alone.
            let attempts = Int(String(decoding: bytes, as: UTF8.self)) ?? 0
            self = Self(attempts: attempts, mayHaveArrived: true).clamped
        }
    }

    /// The bytes to keep.
    var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

    /// When the next attempt is due.
    var nextAttemptDate: Date? { nextAttempt.map { Date(timeIntervalSince1970: Double($0) / 1_000) } }

    private var clamped: Self {
        Self(
            attempts: min(max(0, attempts), Self.maximumAttempts),
            mayHaveArrived: mayHaveArrived,
            isSending: isSending,
            nextAttempt: nextAttemptDate,
            cause: cause,
            isDenied: isDenied
        )
    }
}

/// What is kept of a refused write: its entry, why it was refused, and when.
struct DeadLetterDTO: Codable {
    private static let maximumCauseLength = 500

    let entry: OutboxEntryDTO
    let attempts: Int
    let cause: String
    /// In milliseconds since 1970.
    let refusedAt: Int64

    init(_ entry: OutboxEntry, because error: RepositoryError, at date: Date) {
        self.entry = OutboxEntryDTO(entry)
        // The refused attempt counts, too.
        attempts = entry.attempts + 1
        cause = error.description.excerpt(upTo: Self.maximumCauseLength)
        refusedAt = date.wholeMilliseconds
    }

    /// The bytes to keep.
    ///
    /// - Throws: a ``RecordStoreError`` if it is not JSON.
    func bytes() throws(RecordStoreError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(self))
        } catch {
            throw RecordStoreError(.denied, explanation: "The refused write cannot be kept: it is no JSON.")
        }
    }

    /// Reads a dead letter as it is listed.
    static func item(from bytes: [UInt8], named name: OutboxEntryName) -> OutboxItem {
        do throws(OutboxEntryDTO.Problem) {
            let letter = try Self.letter(from: bytes)
            let entry = try letter.entry.entry(named: name, attempts: max(0, letter.attempts)).get()
            return OutboxItem(
                id: entry.idempotencyKey,
                state: .refused(at: Date(timeIntervalSince1970: Double(letter.refusedAt) / 1_000)),
                write: entry.write,
                acceptedAt: entry.acceptedAt,
                attempts: entry.attempts,
                cause: letter.cause.excerpt(upTo: maximumCauseLength),
                byteCount: entry.write.byteCount
            )
        } catch {
            return OutboxItem(unreadable: name.idempotencyKey, .init(error), byteCount: bytes.count)
        }
    }

    private static func letter(from bytes: [UInt8]) throws(OutboxEntryDTO.Problem) -> Self {
        struct Envelope: Decodable {
            struct Entry: Decodable { let version: Int }
            let entry: Entry
        }
        do {
            let version = try Envelope.decoded(from: Data(bytes)).entry.version
            guard version <= OutboxEntryDTO.version else { throw OutboxEntryDTO.Problem.newer(version: version) }
            return try Self.decoded(from: Data(bytes))
        } catch let problem as OutboxEntryDTO.Problem {
            throw problem
        } catch {
            throw .damaged("\(error)")
        }
    }
}

extension OutboxItem {
    /// A record that cannot be read.
    init(unreadable id: String, _ reason: UndeliverableEntryError.Reason, byteCount: Int) {
        self.init(
            id: id,
            state: .held(reason),
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
