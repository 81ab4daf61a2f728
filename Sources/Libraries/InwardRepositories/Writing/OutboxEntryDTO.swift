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
