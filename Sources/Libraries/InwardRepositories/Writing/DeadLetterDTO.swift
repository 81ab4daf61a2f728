import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    init(unreadable id: String, _ reason: HeldEntryError.Reason, byteCount: Int) {
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

extension HeldEntryError.Reason {
    init(_ problem: OutboxEntryDTO.Problem) {
        self =
            switch problem {
            case .newer(let version): .newer(version: version)
            case .damaged(let problem): .damaged(problem)
            }
    }
}
