import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The circuit breaker that pauses an outbox after consecutive refusals of different subjects. It has no clock: callers pass
/// the time.
///
/// While it is open, nothing is sent. After a wait, one write is sent as a probe. If the probe is delivered, the breaker
/// closes. If it is refused, the breaker opens again for twice as long.
struct RefusalStreak: Hashable {
    /// Whether writes are sent.
    enum Phase: Hashable {
        case running
        case paused(until: Duration)
        /// Only the write with this key is sent.
        case probing(String)
    }

    let limit: Int
    let initialWait: Duration
    let maximumWait: Duration
    private(set) var phase = Phase.running
    /// The subjects that were refused since the last delivery, up to the limit.
    private(set) var subjects: Set<RecordKey> = []
    private(set) var cause = ""
    private(set) var wait = Duration.zero

    init(_ policy: OutboxPolicy) {
        limit = policy.refusalsBeforePause
        initialWait = policy.initialPause
        maximumWait = policy.maximumPause
    }

    var isPaused: Bool { phase != .running }

    /// Begins a delivery, if the state permits it.
    mutating func begin(_ key: String, at now: Duration) -> Bool {
        switch phase {
        case .running: return true
        case .paused(let end) where end <= now:
            phase = .probing(key)
            return true
        case .paused, .probing: return false
        }
    }

    /// Records that the upstream refused the write with a key.
    ///
    /// - Returns: whether the refusal is final, and whether it causes a pause. While delivery is paused, only a refusal of the
    ///   probe is final, so that the fault that caused the pause does not turn further writes into dead letters.
    mutating func refuse(
        _ key: String,
        of subject: RecordKey,
        because cause: String,
        at now: Duration
    ) -> (counts: Bool, pauses: Bool) {
        switch phase {
        case .running:
            self.cause = cause
            subjects.insert(subject)
            guard subjects.count >= limit else { return (true, false) }
            wait = min(initialWait, maximumWait)
            phase = .paused(until: now + wait)
            return (true, true)
        case .probing(key):
            self.cause = cause
            wait = min(wait * 2, maximumWait)
            phase = .paused(until: now + wait)
            return (true, false)
        case .paused, .probing: return (false, false)
        }
    }

    /// Records a delivery, which shows that the upstream accepts writes.
    mutating func deliver() {
        subjects = []
        phase = .running
        wait = .zero
    }

    /// Records the end of an attempt that was neither delivered nor refused. If it was the probe, another one follows.
    ///
    /// - Parameters:
    ///   - key: The key of the write.
    ///   - moment: When another write may be sent as a probe.
    mutating func end(_ key: String, nextProbeAt moment: Duration) {
        if phase == .probing(key) { phase = .paused(until: moment) }
    }

    /// Ends the wait for the next probe.
    mutating func probeNow(at now: Duration) {
        if case .paused(let end) = phase, end > now { phase = .paused(until: now) }
    }
}

extension RefusalStreak {
    /// The stored form of the streak, so that the pause also applies to programs that run only briefly each time.
    struct Record: Codable {
        let version: Int
        let subjects: [[String]]
        let cause: String
        /// When the pause ends, in milliseconds since 1970, or `nil` if delivery is not paused.
        let until: Int64?
        let waitMilliseconds: Int64

        /// The encoded record.
        var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

        /// The pause to display, or `nil` if delivery is not paused.
        var pause: OutboxPause? {
            until.map {
                OutboxPause(
                    until: Date(timeIntervalSince1970: Double($0) / 1_000),
                    refusals: subjects.count,
                    cause: cause.causeExcerpt
                )
            }
        }
    }

    /// Returns the record to store.
    ///
    /// - Parameters:
    ///   - now: The current time of the timer.
    ///   - date: The current date.
    /// - Returns: the record.
    func record(at now: Duration, _ date: Date) -> Record {
        let remaining: Duration? =
            switch phase {
            case .running: nil
            case .paused(let end): max(.zero, end - now)
            case .probing: .zero
            }
        return Record(
            version: 1,
            subjects: subjects.sorted().map(\.components),
            cause: cause.causeExcerpt,
            until: remaining.map { date.addingTimeInterval($0 / .seconds(1)).wholeMilliseconds },
            waitMilliseconds: Int64(wait / .milliseconds(1))
        )
    }

    /// Restores the state of an earlier process.
    mutating func restore(_ record: Record, at now: Duration, _ date: Date) {
        guard record.version == 1 else { return }
        subjects = Set(record.subjects.prefix(limit).map { RecordKey($0) })
        cause = record.cause.causeExcerpt
        guard let pause = record.pause else { return }
        wait = min(max(initialWait, .milliseconds(max(0, min(record.waitMilliseconds, 1 << 40)))), maximumWait)
        // If the clock was set back, too much time would seem to remain.
        let remaining = min(max(0, pause.until.timeIntervalSince(date)), wait / .seconds(1))
        phase = .paused(until: now + .seconds(remaining))
    }
}

/// A pause of an outbox after the upstream refused several writes of different subjects in a row. The upstream is then more
/// likely at fault than the writes.
///
/// ```swift
/// func notice(about pause: OutboxPause) -> String {
///     "\(pause.refusals) changes were refused. Sending pauses until \(pause.until). The last reason: \(pause.cause)."
/// }
/// ```
public struct OutboxPause: Hashable, Sendable {
    /// When one write is sent to test whether the upstream accepts writes again.
    public let until: Date
    /// The number of subjects that were refused in a row.
    public let refusals: Int
    /// Why the last write was refused, as a sentence without its full stop.
    public let cause: String

    /// Creates a pause, to test code that displays it.
    public init(until: Date, refusals: Int, cause: String) {
        self.until = until
        self.refusals = refusals
        self.cause = cause
    }
}

/// A report that an outbox has paused because the upstream refused several writes of different subjects in a row. The refused
/// writes are dead letters. The others stay pending.
///
/// ```swift
/// let errorHandler = IgnoringErrorHandler().notifying { error in
///     guard let report = error as? OutboxPausedError else { return }
///     print("Check the API, then retry the dead letters: \(report.pause.cause)")  // Outbox.retryDeadLetters()
/// }
/// ```
public struct OutboxPausedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key prefix of the outbox's records.
    public let prefix: RecordKey
    /// The cause and the end of the pause.
    public let pause: OutboxPause

    /// What happened and what follows, as a sentence without its full stop.
    public var description: String {
        """
        The upstream refused \(pause.refusals) writes of the outbox \(prefix) in a row, so delivery is paused; one write is tried \
        at \(pause.until). The last refusal: \(pause.cause)
        """
    }
}
