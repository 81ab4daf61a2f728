import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Decides when an outbox pauses: a circuit breaker over the refusals of different subjects in a row. A value without a clock.
///
/// While it is open, nothing is sent. When its wait is over, one write is sent as a probe: a delivery closes the breaker, a refusal
/// opens it for twice as long.
struct RefusalStreak: Hashable {
    /// Whether writes are sent.
    enum Phase: Hashable {
        case running
        case paused(until: Duration)
        /// The write of this key is sent alone.
        case probing(String)
    }

    let limit: Int
    let initialWait: Duration
    let maximumWait: Duration
    private(set) var phase = Phase.running
    /// The subjects that were refused since the last delivery, up to as many as the limit.
    private(set) var subjects: Set<RecordKey> = []
    private(set) var cause = ""
    private(set) var wait = Duration.zero

    init(_ policy: OutboxPolicy) {
        limit = policy.refusalsBeforePause
        initialWait = policy.initialPause
        maximumWait = policy.maximumPause
    }

    var isPaused: Bool { phase != .running }

    /// Begins a delivery, if one may begin now.
    mutating func begin(_ key: String, at now: Duration) -> Bool {
        switch phase {
        case .running: return true
        case .paused(let end) where end <= now:
            phase = .probing(key)
            return true
        case .paused, .probing: return false
        }
    }

    /// Notes that the upstream refused the write of a key.
    ///
    /// - Returns: whether the refusal counts. While delivery is paused only that of the probe does, so that the fault that caused
    ///   the pause does not turn further writes into dead letters. Also whether delivery is paused by it for the first time.
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

    /// Notes that the upstream did a write: it takes writes.
    mutating func deliver() {
        subjects = []
        phase = .running
        wait = .zero
    }

    /// Notes the end of an attempt that says nothing about refusals. If it was the probe, another one follows.
    ///
    /// - Parameters:
    ///   - key: Whose attempt it was.
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
    /// What is kept of it in the store, so that a program that runs for a moment each time pauses too.
    struct Record: Codable {
        static let maximumCauseLength = 500

        let version: Int
        let subjects: [[String]]
        let cause: String
        /// When the pause ends, in milliseconds since 1970; `nil` if delivery is not paused.
        let until: Int64?
        let waitMilliseconds: Int64

        /// The bytes to keep.
        var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

        /// The pause as it is shown; `nil` if delivery is not paused.
        var pause: OutboxPause? {
            until.map {
                OutboxPause(
                    until: Date(timeIntervalSince1970: Double($0) / 1_000),
                    refusals: subjects.count,
                    cause: cause.excerpt(upTo: Self.maximumCauseLength)
                )
            }
        }
    }

    /// Makes the record to keep.
    ///
    /// - Parameters:
    ///   - now: The time by the timer.
    ///   - date: The same time by the clock.
    /// - Returns: what to keep.
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
            cause: cause.excerpt(upTo: Record.maximumCauseLength),
            until: remaining.map { date.addingTimeInterval($0 / .seconds(1)).wholeMilliseconds },
            waitMilliseconds: Int64(wait / .milliseconds(1))
        )
    }

    /// Goes on where an earlier process was.
    mutating func restore(_ record: Record, at now: Duration, _ date: Date) {
        guard record.version == 1 else { return }
        subjects = Set(record.subjects.prefix(limit).map { RecordKey($0) })
        cause = record.cause.excerpt(upTo: Record.maximumCauseLength)
        guard let pause = record.pause else { return }
        wait = min(max(initialWait, .milliseconds(max(0, min(record.waitMilliseconds, 1 << 40)))), maximumWait)
        // Whatever the clock says, no pause is longer than it could have been.
        let remaining = Duration.seconds(min(max(0, pause.until.timeIntervalSince(date)), 31_536_000))
        phase = .paused(until: now + min(remaining, wait))
    }
}

/// Why an outbox sends nothing for now: the upstream refused several writes of different subjects in a row, so that the fault is
/// more likely the upstream's than the writes'.
public struct OutboxPause: Hashable, Sendable {
    /// When one write is sent to find out whether the upstream takes writes again.
    public let until: Date
    /// How many subjects were refused in a row.
    public let refusals: Int
    /// Why the last one was refused, as a sentence without its full stop.
    public let cause: String

    /// Makes a pause, for the tests of what shows it.
    public init(until: Date, refusals: Int, cause: String) {
        self.until = until
        self.refusals = refusals
        self.cause = cause
    }
}

/// An outbox has paused because the upstream refused several writes of different subjects in a row. The refused writes are dead
/// letters; the others stay pending.
public struct OutboxPausedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the records of the outbox are kept under.
    public let prefix: RecordKey
    /// Why, and until when.
    public let pause: OutboxPause

    /// What happened and what follows, as a sentence without its full stop.
    public var description: String {
        """
        The upstream refused \(pause.refusals) writes of the outbox \(prefix) in a row, so delivery is paused; one write is tried \
        at \(pause.until). The last refusal: \(pause.cause)
        """
    }
}
