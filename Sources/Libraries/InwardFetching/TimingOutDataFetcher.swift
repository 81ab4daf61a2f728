public import InwardCore

/// A data fetcher that fails when the complete response does not arrive in time. The limit includes connecting, waiting and
/// receiving the body.
///
/// The limit becomes the task's deadline, unless an earlier one exists, so that inner layers know the remaining time.
public struct TimingOutDataFetcher: DecoratingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let limit: Duration
    private let timer: TimerService

    init(_ base: any DataFetcher, limit: Duration, timer: TimerService) {
        self.base = base
        self.limit = limit
        self.timer = timer
    }

    /// The description of this layer, with the limit.
    public var layer: DataFetcherLayer { DataFetcherLayer(.timeout, "times out after \(limit)") }

    /// Returns the wrapped fetcher's response if it arrives in time.
    ///
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/timedOut`` if it does not; otherwise, errors of the wrapped
    ///   fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard limit > .zero else { throw timedOut(request, wasSent: false) }
        let deadline = Deadline(in: limit, on: timer)
        guard base.honorsDeadlines else {
            let result = await deadline.bound { [base] () async throws(FetchError) in try await base.fetch(request) }
            guard let result else { throw timedOut(request) }
            return try result.get()
        }
        do {
            return try await deadline.carried { () async throws(FetchError) in try await base.fetch(request) }.get()
        } catch  where error.reason == .timedOut && deadline.hasPassed {
            let late = timedOut(request, wasSent: error.wasSent)
            throw error.retries.map { late.reporting($0) } ?? late
        }
    }

    private func timedOut(_ request: DataRequest, wasSent: Bool = true) -> FetchError {
        FetchError(
            .timedOut,
            request: request,
            explanation: "was not answered within \(limit)",
            wasSent: wasSent
        )
    }
}

extension DataFetcher {
    /// Returns this fetcher with a time limit for each request, until its response is complete.
    ///
    /// Inner layers, such as retries, share the time. Apply one timeout outside the retries to limit all attempts together,
    /// and one inside to limit each attempt:
    ///
    ///     let fetcher = base.timingOut(after: .seconds(2)).retrying(.standard).timingOut(after: .seconds(10))
    ///
    /// - Parameters:
    ///   - limit: The maximum duration. With zero or less, requests fail without being sent.
    ///   - timer: The source of time.
    /// - Returns: The fetcher with the timeout.
    public func timingOut(after limit: Duration, timer: TimerService = .continuous) -> TimingOutDataFetcher {
        TimingOutDataFetcher(self, limit: limit, timer: timer)
    }
}
