import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An entry to deliver, and what is known of how it went before.
struct OutboxDelivery: Sendable {
    var entry: OutboxEntry
    var history = DeliveryHistory()
    /// What the upstream answered for good, if that could not be settled yet: then it is not sent again.
    var answer: Result<DataResponse, RepositoryError>?
    /// How often settling it failed.
    var settlementFailures = 0
    /// When it may be sent, by the timer; `nil` for at once.
    var nextAttempt: Duration?
    /// Why it was not delivered so far.
    var cause: String?
    /// Whether the store has a note of what the history says.
    var isNoted = false
    /// Whether an attempt failed for want of valid credentials, and none was done since.
    var isDenied = false
    /// The ``OutboxState/credentialsSerial`` when the attempt under way began.
    var credentialsSerial = 0

    /// Whether it may have been done at the upstream.
    var mayHaveArrived: Bool {
        if case .success? = answer { true } else { history.mayHaveArrived }
    }
}

extension OutboxDelivery {
    /// An entry that an earlier outbox left, with what it noted of its attempts, at a time by the timer and by the calendar.
    init(_ entry: OutboxEntry, _ note: AttemptNote, at time: Duration, _ date: Date, _ policy: OutboxPolicy) {
        self.init(entry: entry)
        history = DeliveryHistory(mayHaveArrived: note.mayHaveArrived || note.isSending)
        isNoted = note.mayHaveArrived || note.isSending
        cause = note.cause
        isDenied = note.isDenied
        nextAttempt = note.nextAttemptDate.map { time + policy.rest(of: $0.timeIntervalSince(date)) }
    }
}
