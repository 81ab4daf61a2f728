public import InwardCore

/// A data fetcher that coalesces concurrent equal requests into one transfer.
///
/// ```swift
/// let shared = client.coalescing()
/// async let first = shared.fetch(request)
/// async let second = shared.fetch(request)  // Waits for the same transfer.
/// print(try await first.status, try await second.status)
/// ```
///
/// Only `GET` and `HEAD` requests are coalesced. Requests are equal if all their parts are, including header fields and thus
/// credentials. If one caller is cancelled or reaches its deadline, the transfer continues for the others.
///
/// A request with another method may change something. After it has ended, callers join only transfers that have begun since
/// then.
public struct CoalescingDataFetcher: ReportingDataFetcher {
    private typealias Transfers = SingleFlight<DataRequest, DataResponse, FetchError>

    /// The wrapped fetcher. Setting another one starts separate transfers.
    public var base: any DataFetcher {
        didSet {
            transfers = Self.transfers(abandonment, executor)
            transfer = Self.transfer(base)
        }
    }
    var observers = FetchObservers()
    private var transfers: Transfers
    // Created once rather than for each request.
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

    /// Returns this fetcher with the transfers of the original, for a copy that differs only in its observers.
    func sharing(with original: CoalescingDataFetcher) -> CoalescingDataFetcher {
        var copy = self
        copy.transfers = original.transfers
        return copy
    }

    /// The description of this layer, with what happens to abandoned transfers.
    public var layer: DataFetcherLayer {
        let ending = abandonment == .cancel ? "cancels" : "finishes"
        return DataFetcherLayer(.coalescing, "coalesces equal requests, and \(ending) transfers without waiters")
    }

    /// Returns the response to an equal request under way, or else the response of the wrapped fetcher.
    ///
    /// - Throws: Errors of the wrapped fetcher; a ``FetchError`` with ``FetchError/Reason/cancelled`` or
    ///   ``FetchError/Reason/timedOut`` if this caller was cancelled or its deadline has passed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get || request.method == .head else { return try await change(request) }
        // A request that is already cancelled or late is not sent.
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
        // Later requests must see the change, and transfers under way may have read the earlier state. A failed request counts
        // too, because the upstream may have made the change before it failed.
        transfers.detachAll()
        defer { transfers.detachAll() }
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// Returns this fetcher with concurrent equal requests coalesced.
    ///
    /// Apply it outside a timeout, because a transfer does not inherit the deadline of any caller.
    ///
    /// ```swift
    /// let shared = client.timingOut(after: .seconds(5)).coalescing()
    /// ```
    ///
    /// - Parameters:
    ///   - abandonment: What happens to a transfer without waiters.
    ///   - executor: The executor for transfers; `nil` for the default executor.
    /// - Returns: The coalescing fetcher. Share it, because only requests to the same one are coalesced.
    public func coalescing(
        whenAbandoned abandonment: AbandonmentPolicy = .cancel,
        executor: (any TaskExecutor)? = nil
    ) -> CoalescingDataFetcher {
        CoalescingDataFetcher(self, abandonment: abandonment, executor: executor)
    }
}
