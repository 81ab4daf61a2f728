public import InwardCore

/// A data fetcher that gives up when a whole answer does not come in time: connecting, waiting and the body together.
///
/// Its limit becomes the deadline of the task, unless that has an earlier one, so that whatever waits inside knows how much
/// time is left.
public struct TimingOutDataFetcher: DecoratingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let limit: Duration
    private let timer: TimerService

    init(_ base: any DataFetcher, limit: Duration, timer: TimerService) {
        self.base = base
        self.limit = limit
        self.timer = timer
    }

    /// How long an answer may take.
    public var layer: DataFetcherLayer { DataFetcherLayer(.timeout, "times out after \(limit)") }

    /// The wrapped fetcher's answer, if it comes in time.
    ///
    /// - Throws: a ``FetchError`` with ``FetchError/Reason/timedOut`` if it does not; otherwise what the wrapped fetcher throws.
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
    /// This fetcher with a limit for each request, from when it is handed over until its answer is whole.
    ///
    /// What waits inside, such as a retry, shares the time: put one timeout around the retries for all attempts together, and
    /// one inside of them for each.
    ///
    /// - Parameters:
    ///   - limit: How long an answer may take. A request with none left fails without being sent.
    ///   - timer: What tells the time.
    /// - Returns: the fetcher to hand requests to.
    public func timingOut(after limit: Duration, timer: TimerService = .continuous) -> TimingOutDataFetcher {
        TimingOutDataFetcher(self, limit: limit, timer: timer)
    }
}
