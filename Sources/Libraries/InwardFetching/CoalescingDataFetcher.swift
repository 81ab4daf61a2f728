public import InwardCore

/// A data fetcher that asks once for all who ask the same at the same time.
///
/// The same are equal requests that are safe, `GET` and `HEAD`: all of a request counts, its header fields and so its
/// credentials too. Nobody's cancellation or deadline ends the transfer for the others. Nobody joins a transfer that was begun
/// before another request, one that may change something, went through here and came back.
public struct CoalescingDataFetcher: ReportingDataFetcher {
    private typealias Transfers = SingleFlight<DataRequest, DataResponse, FetchError>

    /// What is wrapped. Another one has transfers of its own.
    public var base: any DataFetcher {
        didSet {
            transfers = Self.transfers(abandonment, executor)
            transfer = Self.transfer(base)
        }
    }
    var observers = FetchObservers()
    private var transfers: Transfers
    // Made once, and not for each request.
    private var transfer: Transfers.Work
    private let abandonment: AbandonmentPolicy
    private let executor: (any TaskExecutor)?

    init(_ base: any DataFetcher, abandonment: AbandonmentPolicy, executor: (any TaskExecutor)?) {
        self.base = base
        self.abandonment = abandonment
        self.executor = executor
        transfers = Self.transfers(abandonment, executor)
        transfer = Self.transfer(base)
    }

    private static func transfer(_ base: any DataFetcher) -> Transfers.Work {
        { request async throws(FetchError) in try await base.fetch(request) }
    }

    private static func transfers(_ abandonment: AbandonmentPolicy, _ executor: (any TaskExecutor)?) -> Transfers {
        Transfers(whenAbandoned: abandonment, executor: executor)
    }

    /// This fetcher over what it wraps already, with more layers told of: its transfers stay the same.
    func sharing(with original: CoalescingDataFetcher) -> CoalescingDataFetcher {
        var copy = self
        copy.transfers = original.transfers
        return copy
    }

    /// That requests are shared, and what becomes of those that are abandoned.
    public var layer: DataFetcherLayer {
        let ending = abandonment == .cancel ? "cancels" : "finishes"
        return DataFetcherLayer(.coalescing, "asks once for equal requests, and \(ending) what nobody waits for")
    }

    /// The answer to an equal request that is under way, or else the wrapped fetcher's.
    ///
    /// - Throws: what the wrapped fetcher throws; or a ``FetchError`` with ``FetchError/Reason/cancelled`` or
    ///   ``FetchError/Reason/timedOut`` if this caller was cancelled or its deadline has passed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get || request.method == .head else { return try await change(request) }
        // Whoever comes too late has nothing sent.
        if Task.isCancelled {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
        }
        if let deadline = Deadline.current, deadline.hasPassed {
            let explanation = "was not sent before the deadline"
            throw FetchError(.timedOut, request: request, explanation: explanation, wasSent: false)
        }
        let outcome = await transfers.outcome(
            for: request,
            noteJoining: { observers.tell { $0.joined(request) } },
            transfer
        )
        switch outcome {
        case .fulfilled(let answer): return try answer.get()
        case .cancelled: throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        case .deadlinePassed:
            throw FetchError(.timedOut, request: request, explanation: "was not answered before the deadline")
        }
    }

    private func change(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        // Who asks behind a change is to see it, and what is under way may have been answered before. Also when it fails: what
        // the source did before that is not known.
        transfers.detachAll()
        defer { transfers.detachAll() }
        return try await base.fetch(request)
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
        whenAbandoned abandonment: AbandonmentPolicy = .cancel,
        executor: (any TaskExecutor)? = nil
    ) -> CoalescingDataFetcher {
        CoalescingDataFetcher(self, abandonment: abandonment, executor: executor)
    }
}
