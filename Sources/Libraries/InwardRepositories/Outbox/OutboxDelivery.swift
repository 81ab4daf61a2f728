import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An entry to deliver, and the history of its attempts.
struct OutboxDelivery: Sendable {
    var entry: OutboxEntry
    var history = DeliveryHistory()
    /// The upstream's final response, if it could not be settled yet. The entry is then not sent again.
    var answer: Result<DataResponse, RepositoryError>?
    /// The upstream's version, if it wins over the entry. The entry is then dropped, and does not become a dead letter.
    var droppedFor: OutboxWrite.Version?
    /// Both versions of the resource, if the entry conflicts and becomes a dead letter.
    var conflict: OutboxConflict?
    /// When the current attempt began, by the timer.
    var start = Duration.zero
    /// The number of failed attempts to settle the entry.
    var settlementFailures = 0
    /// The timer's time from which the entry may be sent, or `nil` if it may be sent immediately.
    var nextAttempt: Duration?
    /// Why the entry has not been delivered so far.
    var cause: String?
    /// Whether the store has a note of the history.
    var isNoted = false
    /// Whether an attempt failed because its credentials were not valid, and none has succeeded since.
    var isDenied = false
    /// The ``OutboxState/credentialsSerial`` at the beginning of the current attempt.
    var credentialsSerial = 0

    /// Whether the write may have been done at the upstream.
    var mayHaveArrived: Bool {
        if case .success? = answer { true } else { history.mayHaveArrived }
    }

    /// The number of bytes of the entry as a dead letter.
    var deadLetterByteCount: Int { entry.write.byteCount + (conflict?.byteCount ?? 0) }
}

extension OutboxDelivery {
    /// Creates a delivery from an entry of an earlier outbox, and the note of its attempts. `time` is the current time of the
    /// timer, and `date` is the current date.
    init(_ entry: OutboxEntry, _ note: AttemptNote, at time: Duration, _ date: Date, _ policy: OutboxPolicy) {
        self.init(entry: entry)
        history = DeliveryHistory(mayHaveArrived: note.mayHaveArrived || note.isSending)
        isNoted = note.mayHaveArrived || note.isSending
        cause = note.cause
        isDenied = note.isDenied
        nextAttempt = note.nextAttemptDate.map { time + policy.rest(of: $0.timeIntervalSince(date)) }
    }
}

/// The history of an entry's attempts. It determines what the outcome of the next one means.
struct DeliveryHistory: Hashable, Sendable {
    /// The number of 409 responses that an upstream may give while it processes an earlier attempt. Further ones are reported.
    private static let expectedConflicts = 3

    /// Whether an earlier attempt may have reached the upstream with an unknown outcome.
    private(set) var mayHaveArrived: Bool
    /// Whether a refusal is final even if an earlier attempt may have arrived. See ``OutboxTerms/storesRefusals``.
    private var refusalsAreFinal = false
    private(set) var conflicts = 0
    private var told: Set<RepositoryError.Reason> = []
    private var isStoreTold = false
    private var isDelayTold = false
    private var isUnknownOutcomeToReport = false
    private var isUnknownOutcomeTold = false

    /// Creates the history of an entry that has not been sent, or that an earlier process may have sent.
    init(mayHaveArrived: Bool = false, conflicts: Int = 0, refusalsAreFinal: Bool = false) {
        self.mayHaveArrived = mayHaveArrived
        self.conflicts = conflicts
        self.refusalsAreFinal = refusalsAreFinal
    }

    /// Adds the outcome of an attempt.
    ///
    /// - Parameters:
    ///   - outcome: The result of the data fetcher.
    ///   - request: The request that was sent.
    ///   - date: The current time, for a `Retry-After` that contains a date.
    /// - Returns: what the outcome means.
    mutating func add(
        _ outcome: Result<DataResponse, FetchError>,
        of request: DataRequest,
        at date: Date
    ) -> DeliveryVerdict {
        switch outcome {
        case .success(let response) where response.fallbackReason != nil:
            // A fallback answered. An attempt may still have reached the upstream.
            mayHaveArrived = true
            let error = RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was answered by a fallback, so it is not known whether the upstream did it"
            )
            return .again(error, after: nil)
        case .success(let response) where response.status.isSuccess: return .delivered(response)
        // A resource that does not exist counts as deleted: an earlier attempt may have deleted it.
        case .success(let response) where request.method == .delete && [404, 410].contains(response.status.code):
            return .delivered(response)
        case .success(let response): return verdict(on: FetchError(response, to: request), of: request, at: date)
        case .failure(let error): return verdict(on: error, of: request, at: date)
        }
    }

    /// Returns whether to report the error of an attempt to the error handler. An error that may require action is reported
    /// immediately, and any other delay after a number of attempts. Each is reported once.
    ///
    /// - Parameters:
    ///   - reason: The reason of the upstream's failure, or `nil` for a failure of the store.
    ///   - attempts: The number of attempts so far.
    ///   - limit: The number of attempts after which a delay is reported.
    /// - Returns: whether to report the error.
    mutating func isToBeTold(_ reason: RepositoryError.Reason?, after attempts: Int, limit: Int) -> Bool {
        guard let reason else {
            defer { isStoreTold = true }
            return !isStoreTold
        }
        if isUnknownOutcomeToReport, !isUnknownOutcomeTold {
            isUnknownOutcomeTold = true
            return true
        }
        if reason == .denied || reason == .unreadable { return told.insert(reason).inserted }
        guard attempts >= limit, !isDelayTold else { return false }
        isDelayTold = true
        return true
    }

    private mutating func verdict(on error: FetchError, of request: DataRequest, at date: Date) -> DeliveryVerdict {
        let translated = RepositoryError(error, mayHaveWritten: true)
        switch translated.reason {
        // The precondition is false, so the upstream did not do this attempt. If it did an earlier one, it has the result of
        // that one now.
        case .conflict where error.status == 412 || !mayHaveArrived: return .conflicting(translated)
        // After this many 409 responses, the upstream is not just busy with an earlier attempt. A creation cannot conflict
        // with another version.
        case .conflict where conflicts >= Self.expectedConflicts && request.method != .post:
            return .conflicting(translated)
        case .refused, .notFound, .conflict:
            // A refusal proves that the upstream did not do this attempt. It says nothing about an earlier attempt, which may
            // still be in progress.
            // A 409 may say that an earlier attempt is still in progress.
            guard mayHaveArrived, !refusalsAreFinal || error.status == 409 else { return .refused(translated) }
            if error.status == 409 { conflicts += 1 }
            isUnknownOutcomeToReport = error.status != 409 || conflicts > Self.expectedConflicts
            let unknown = RepositoryError(
                .outcomeUnknown,
                request: translated.request,
                explanation: "\(translated.explanation), but an earlier attempt may have been done"
            )
            return .again(unknown, after: error.wait(from: date))
        case .outcomeUnknown, .cancelled, .unreadable:
            mayHaveArrived = mayHaveArrived || error.wasSent
            return .again(translated, after: error.wait(from: date))
        default:
            // Closed, denied, unavailable: the upstream did nothing. A write is also sent again after an unknown reason.
            return .again(translated, after: error.wait(from: date))
        }
    }
}

extension FetchError {
    /// Returns how long the source asked to wait, counted from a time, or `nil` if it did not ask.
    fileprivate func wait(from now: Date) -> Duration? {
        switch retryAfter {
        case .delay(let delay): delay
        // Limited to a year, because the date may be too far away for a duration.
        case .date(let date): .seconds(min(max(0, date.timeIntervalSince(now)), 31_536_000))
        case nil: nil
        }
    }
}

/// The meaning of the outcome of a delivery attempt.
enum DeliveryVerdict: Hashable, Sendable {
    /// The write was done.
    case delivered(DataResponse)
    /// The write was not done, and never will be.
    case refused(RepositoryError)
    /// The write was not done, because the upstream has another version of the resource.
    case conflicting(RepositoryError)
    /// The write must be sent again, no sooner than the upstream asked for.
    case again(RepositoryError, after: Duration?)
}
