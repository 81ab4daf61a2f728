import UseCases

/// A data fetcher that asks once for all who ask the same at the same time.
///
/// The same are equal requests that are safe, `GET` and `HEAD`: all of a request counts, its header fields and so its
/// credentials too. Nobody's cancellation or deadline ends the transfer for the others.
public struct CoalescingDataFetcher: TellingDataFetcher {
    /// What becomes of a transfer that nobody waits for any more.
    public enum Abandonment: Sendable {
        /// It is cancelled.
        case cancelled
        /// It is finished, for the sake of whoever asks meanwhile, or of a cache inside.
        case finished
    }

    /// What is wrapped.
    public var base: any DataFetcher
    var observers = FetchObservers()
    private let transfers: SingleFlight<DataRequest, DataResponse, FetchError>
    private let abandonment: Abandonment

    init(_ base: any DataFetcher, abandonment: Abandonment, executor: (any TaskExecutor)?) {
        self.base = base
        self.abandonment = abandonment
        transfers = SingleFlight(whenAbandoned: abandonment == .cancelled ? .cancels : .goesOn, executor: executor)
    }

    /// That requests are shared, and what becomes of those that are abandoned.
    public var layer: DataFetcherLayer {
        let ending = abandonment == .cancelled ? "cancels" : "finishes"
        return DataFetcherLayer(.coalescing, "asks once for equal requests, and \(ending) what nobody waits for")
    }

    /// The answer to an equal request that is under way, or else the wrapped fetcher's.
    ///
    /// - Throws: what the wrapped fetcher throws; or a ``FetchError`` with ``FetchError/Reason/cancelled`` or
    ///   ``FetchError/Reason/timedOut`` if this caller was cancelled or its deadline has passed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard [.get, .head].contains(request.method) else { return try await base.fetch(request) }
        let outcome = await transfers.outcome(for: request) {
            observers.tell { $0.joined(request) }
        } _: { [base] () async throws(FetchError) in
            try await base.fetch(request)
        }
        switch outcome {
        case .kept(let answer): return try answer.get()
        case .cancelled: throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        case .deadlinePassed:
            throw FetchError(.timedOut, request: request, explanation: "was not answered before the deadline")
        }
    }
}

extension DataFetcher {
    /// This fetcher, asked once for all who ask the same at the same time.
    ///
    /// Put it around what a transfer should be bounded by, such as a timeout: a transfer has no deadline of its own, because
    /// those who wait for it have different ones.
    ///
    /// - Parameters:
    ///   - abandonment: What becomes of a transfer that nobody waits for any more.
    ///   - executor: Where transfers run; `nil` for wherever there is room.
    /// - Returns: the fetcher to hand requests to. Share it: each that is made has transfers of its own.
    public func coalescing(
        whenAbandoned abandonment: CoalescingDataFetcher.Abandonment = .cancelled,
        executor: (any TaskExecutor)? = nil
    ) -> CoalescingDataFetcher {
        CoalescingDataFetcher(self, abandonment: abandonment, executor: executor)
    }
}
