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

/// What is known of the deliveries of an entry so far: a value that says what the outcome of the next one means.
struct DeliveryHistory: Hashable, Sendable {
    /// How many conflicts in a row are expected of an upstream that is still busy with an earlier attempt. More are reported.
    private static let expectedConflicts = 3

    /// Whether an earlier attempt may have reached the upstream, with nobody knowing what came of it.
    private(set) var mayHaveArrived: Bool
    private var conflicts = 0
    private var told: Set<RepositoryError.Reason> = []
    private var isStoreTold = false
    private var isDelayTold = false
    private var isUnknownOutcomeToReport = false
    private var isUnknownOutcomeTold = false

    /// Makes the history of an entry that nobody has sent; or of one that an earlier process may have sent.
    init(mayHaveArrived: Bool = false) {
        self.mayHaveArrived = mayHaveArrived
    }

    /// Adds the outcome of an attempt.
    ///
    /// - Parameters:
    ///   - outcome: What the data fetcher gave or threw.
    ///   - request: What it was asked.
    ///   - date: The time, for an upstream that names one to be asked again at.
    /// - Returns: what the outcome means.
    mutating func add(
        _ outcome: Result<DataResponse, FetchError>,
        of request: DataRequest,
        at date: Date
    ) -> DeliveryVerdict {
        switch outcome {
        case .success(let response) where response.fallbackReason != nil:
            // What was done elsewhere may have been done, but not where it was to be.
            mayHaveArrived = true
            let error = RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was answered by another than the upstream"
            )
            return .again(error, after: nil)
        case .success(let response) where response.status.isSuccess: return .delivered(response)
        case .success(let response): return verdict(on: FetchError(response, to: request), at: date)
        case .failure(let error): return verdict(on: error, at: date)
        }
    }

    /// Whether an error of an attempt is to be told to the error handler: what somebody has to mend, at once; and that it takes
    /// long, behind so many attempts. Each is told once.
    ///
    /// - Parameters:
    ///   - reason: What kind of failure of the upstream it is; `nil` for one of the store.
    ///   - attempts: How many attempts were made.
    ///   - limit: Behind how many it takes long.
    /// - Returns: whether it is to be told.
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

    private mutating func verdict(on error: FetchError, at date: Date) -> DeliveryVerdict {
        let translated = RepositoryError(error, mayHaveWritten: true)
        switch translated.reason {
        case .refused, .notFound:
            // A refusal says that this attempt was not done, and nothing of an earlier one that may still be under way.
            guard mayHaveArrived else { return .refused(translated) }
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
            // Closed, denied, unavailable: nothing was done. What is not known here is no reason to give a write up.
            return .again(translated, after: error.wait(from: date))
        }
    }
}

extension FetchError {
    /// How long the source asked to be left alone, from a time on; `nil` if it did not say.
    fileprivate func wait(from now: Date) -> Duration? {
        switch retryAfter {
        case .delay(let delay): delay
        // A year is as good as never, and fits a number.
        case .date(let date): .seconds(min(max(0, date.timeIntervalSince(now)), 31_536_000))
        case nil: nil
        }
    }
}

/// What the outcome of an attempt to deliver a write means.
enum DeliveryVerdict: Hashable, Sendable {
    /// It was done.
    case delivered(DataResponse)
    /// It is not done, and never will be.
    case refused(RepositoryError)
    /// It is to be sent again, behind the time that the upstream asked for.
    case again(RepositoryError, after: Duration?)
}
