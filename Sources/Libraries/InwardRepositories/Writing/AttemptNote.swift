import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
