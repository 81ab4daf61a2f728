import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        case .success(let response) where response.degradation != nil:
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
