public import InwardCore

/// An observer of the events in a pipeline of data fetchers or in a ``ResilientOperation``.
///
/// Add it with ``DataFetcher/observing(with:timer:)`` or ``ResilientOperation/observing(with:timer:)``. Every method has a
/// default implementation that does nothing, so implement only those you need. Methods are called from many tasks concurrently.
/// A request waits until a method returns, so return quickly.
///
/// ```swift
/// struct FallbackLogger: FetchObserver {
///     func fellBack(_ request: DataRequest, because error: FetchError) {
///         print("Fallback for \(request): \(error)")
///     }
/// }
/// let observed = client.fallingBack(to: DataResponse()).observing(with: FallbackLogger())
/// ```
public protocol FetchObserver: Sendable {
    /// Called when a request to the pipeline has ended.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - outcome: The response or error that the caller receives.
    ///   - duration: The duration, including all attempts and waits.
    func requestEnded(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>, after duration: Duration)

    /// Wraps an attempt: a request that the pipeline passes to its innermost fetcher.
    ///
    /// - Parameters:
    ///   - request: The request to send, with its ``DataRequest/attempt``.
    ///   - fetch: Sends a request. Call it once, with the given request or with header fields added to it.
    /// - Returns: The response from `fetch`.
    /// - Throws: Errors from `fetch`.
    func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse

    /// Called when an attempt has ended.
    ///
    /// - Parameters:
    ///   - request: The request that was sent, with its ``DataRequest/attempt``.
    ///   - outcome: The outcome of the attempt.
    ///   - duration: The duration of the attempt.
    func attemptEnded(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>, after duration: Duration)

    /// Called when a request is answered from a cache.
    func answeredFromCache(_ request: DataRequest)

    /// Called when a request joins an equal one under way.
    func joined(_ request: DataRequest)

    /// Called before the wait for a retry.
    ///
    /// - Parameters:
    ///   - request: The request, with the number of the coming attempt in ``DataRequest/attempt``.
    ///   - delay: The wait before the retry.
    ///   - outcome: The outcome of the previous attempt.
    func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    )

    /// Called when a second attempt begins because the first is slow.
    func hedged(_ request: DataRequest)

    /// Called when a limit or an open circuit rejects a request, which is not sent.
    func rejected(_ request: DataRequest, because error: FetchError)

    /// Called when a fallback answers in place of a failed fetcher.
    func fellBack(_ request: DataRequest, because error: FetchError)

    /// Called when a request is about to be sent again with renewed credentials, because the upstream rejected the previous
    /// ones.
    func credentialsRefreshed(for request: DataRequest)

    /// Called when a request, or a call of an operation, causes a state transition of a circuit breaker. For transitions that
    /// you cause, pass an observer to ``CircuitBreaker/isolate(telling:)`` and ``CircuitBreaker/close(telling:)``.
    ///
    /// - Parameters:
    ///   - circuit: The name of the circuit breaker.
    ///   - old: The previous state, as the circuit breaker describes it.
    ///   - new: The new state.
    func circuitChanged(_ circuit: String, from old: String, to new: String)

    /// Called for each event in a call of a ``ResilientOperation``.
    ///
    /// - Parameters:
    ///   - name: The name of the operation.
    ///   - event: The event.
    func operation(_ name: String, _ event: OperationEvent)

    /// Wraps a call of a ``ResilientOperation``, or an attempt: one execution of the operation within a call.
    ///
    /// - Parameters:
    ///   - step: Whether this is a call or an attempt, with the name of the operation.
    ///   - work: Performs the call or the attempt. Call it once.
    /// - Returns: The result of `work`.
    /// - Throws: The error of `work`.
    func surroundOperation<Output: Sendable, Failure: Error>(
        _ step: OperationStep,
        _ work: () async throws(Failure) -> Output
    ) async throws(Failure) -> Output
}

extension FetchObserver {
    /// Does nothing.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {}

    /// Returns the result of `fetch`.
    ///
    /// - Throws: Errors from `fetch`.
    public func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        try await fetch(request)
    }

    /// Does nothing.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {}

    /// Does nothing.
    public func answeredFromCache(_ request: DataRequest) {}
    /// Does nothing.
    public func joined(_ request: DataRequest) {}
    /// Does nothing.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {}
    /// Does nothing.
    public func hedged(_ request: DataRequest) {}
    /// Does nothing.
    public func rejected(_ request: DataRequest, because error: FetchError) {}
    /// Does nothing.
    public func fellBack(_ request: DataRequest, because error: FetchError) {}
    /// Does nothing.
    public func credentialsRefreshed(for request: DataRequest) {}
    /// Does nothing.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {}
    /// Does nothing.
    public func operation(_ name: String, _ event: OperationEvent) {}

    /// Returns the result of `work`.
    ///
    /// - Throws: The error of `work`.
    public func surroundOperation<Output: Sendable, Failure: Error>(
        _ step: OperationStep,
        _ work: () async throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        try await work()
    }
}

/// A part of a ``ResilientOperation`` that a ``FetchObserver`` wraps: a call or an attempt.
///
/// ```swift
/// func spanName(of step: OperationStep) -> String {
///     switch step {
///     case .call(let name): name
///     case .attempt(let name): "\(name) (attempt)"
///     }
/// }
/// ```
public enum OperationStep: Hashable, Sendable {
    /// A call of the operation with this name, including all attempts and waits.
    case call(String)
    /// An attempt: one execution of the operation with this name within a call.
    case attempt(String)

    /// The name of the operation.
    public var name: String {
        switch self {
        case .call(let name), .attempt(let name): name
        }
    }
}

/// An event in a call of a ``ResilientOperation``. Future versions may add cases, so a `switch` over events needs a `default`.
///
/// ```swift
/// struct RetryCounter: FetchObserver {
///     func operation(_ name: String, _ event: OperationEvent) {
///         if case .retryScheduled(let attempt, _, _) = event { print("\(name): attempt \(attempt)") }
///     }
/// }
/// ```
public enum OperationEvent: Sendable, CustomStringConvertible {
    /// The call has ended, with the error that the caller receives or without one. The duration includes all attempts and
    /// waits.
    case ended(error: (any Error)?, after: Duration)
    /// One execution of the operation has ended, with its error or without one.
    case attemptEnded(error: (any Error)?, after: Duration)
    /// The call joins an equal one under way.
    case joined
    /// The operation will be retried after a wait. The first retry is attempt 2.
    case retryScheduled(attempt: Int, after: Duration, because: any Error)
    /// A second attempt begins because the first is slow.
    case hedged
    /// A limit or an open circuit rejects the call, which is not started.
    case rejected(ResilienceError)
    /// A fallback answers in place of the failed operation.
    case fellBack(because: any Error)

    /// The event, as the end of a sentence that begins with the operation: `was hedged`.
    public var description: String {
        switch self {
        case .ended(let error, let duration): "ended \(Self.words(error)) after \(duration)"
        case .attemptEnded(let error, let duration): "finished an attempt \(Self.words(error)) after \(duration)"
        case .joined: "joined an equal call"
        case .retryScheduled(let attempt, let delay, let error):
            "is retried (attempt \(attempt)) after \(delay) because of \(error)"
        case .hedged: "was hedged"
        case .rejected(let error): "was rejected: it \(error.explanation)"
        case .fellBack(let error): "fell back because of \(error)"
        }
    }

    private static func words(_ error: (any Error)?) -> String { error.map { "with \($0)" } ?? "without an error" }
}

/// The observers of a layer, innermost first. An empty list has no overhead.
struct FetchObservers: Sendable {
    private var observers: [any FetchObserver] = []

    mutating func append(_ observer: any FetchObserver) { observers.append(observer) }

    /// Adds an observer inside the others.
    mutating func prepend(_ observer: any FetchObserver) { observers.insert(observer, at: 0) }

    /// Reports a state transition of a circuit, if there was one.
    func tell(_ change: CircuitChange?, of breaker: CircuitBreaker) {
        guard let change else { return }
        tell { $0.circuitChanged(breaker.name, from: change.from.rawValue, to: change.to.rawValue) }
    }

    func tell(_ tell: (any FetchObserver) -> Void) {
        guard !observers.isEmpty else { return }
        for observer in observers { tell(observer) }
    }

    /// Lets every observer wrap an attempt, the outermost around the others.
    func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        try await surround(observers[...], request, fetch)
    }

    /// Lets every observer wrap an operation, the outermost around the others.
    func surroundOperation<Output: Sendable, Failure: Error>(
        _ step: OperationStep,
        _ work: () async throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        try await surround(observers[...], step, work)
    }

    private func surround<Output: Sendable, Failure: Error>(
        _ rest: ArraySlice<any FetchObserver>,
        _ step: OperationStep,
        _ work: () async throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        guard let outermost = rest.last else { return try await work() }
        return try await outermost.surroundOperation(step) { () async throws(Failure) in
            try await surround(rest.dropLast(), step, work)
        }
    }

    private func surround(
        _ rest: ArraySlice<any FetchObserver>,
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        guard let outermost = rest.last else { return try await fetch(request) }
        return try await outermost.surroundAttempt(request) { request async throws(FetchError) in
            try await surround(rest.dropLast(), request, fetch)
        }
    }
}

/// A decorator that reports events to observers.
protocol ReportingDataFetcher: DecoratingDataFetcher {
    var observers: FetchObservers { get set }
}

/// A data fetcher that reports to an observer: the end of each request, and the events of the layers inside it.
///
/// Create it with ``DataFetcher/observing(with:timer:)``.
public struct ObservingDataFetcher: DecoratingDataFetcher {
    /// The wrapped fetcher, with the observer in each of its layers.
    public var base: any DataFetcher
    private let observer: (any FetchObserver)?
    private let timer: TimerService

    init(_ base: any DataFetcher, observer: (any FetchObserver)?, timer: TimerService) {
        self.base = observer.map { base.told(to: $0, timer: timer) } ?? base
        self.observer = observer
        self.timer = timer
    }

    /// The description of this layer.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.observation, observer == nil ? "has no observer" : "reports to an observer")
    }

    /// Returns the wrapped fetcher's response.
    ///
    /// - Throws: Errors of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard let observer else { return try await base.fetch(request) }
        let start = timer.now
        do {
            let response = try await base.fetch(request)
            observer.requestEnded(request, .success(response), after: timer.now - start)
            return response
        } catch {
            observer.requestEnded(request, .failure(error), after: timer.now - start)
            throw error
        }
    }
}

extension DataFetcher {
    /// Returns this fetcher with an observer for the events in all its layers.
    ///
    /// All layers of this fetcher report to the observer. Layers that are added around it later do not. Each request to the
    /// innermost fetcher is an attempt. A fetcher of your own counts as the innermost unless it is a ``DecoratingDataFetcher``.
    ///
    /// Observed and unobserved pipelines share the state of their layers, such as circuit breakers.
    ///
    /// ```swift
    /// struct DurationPrinter: FetchObserver {
    ///     func requestEnded(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>, after duration: Duration) {
    ///         print("\(request) took \(duration)")
    ///     }
    /// }
    /// let observed = orders.observing(with: DurationPrinter())
    /// ```
    ///
    /// - Parameters:
    ///   - observer: The observer; `nil` for none, which costs almost nothing.
    ///   - timer: The source of time.
    /// - Returns: The observed fetcher.
    public func observing(with observer: (any FetchObserver)?, timer: TimerService = .continuous)
        -> ObservingDataFetcher
    {
        ObservingDataFetcher(self, observer: observer, timer: timer)
    }

    /// Returns this fetcher with an observer in each of its layers, and one at its end that reports attempts.
    func told(to observer: any FetchObserver, timer: TimerService) -> any DataFetcher {
        if var probe = self as? AttemptObservingDataFetcher {
            probe.observers.append(observer)
            return probe
        }
        if var layered = self as? any LayeredDataFetcher {
            layered.observers.append((observer, timer))
            return layered
        }
        guard var decorator = self as? any DecoratingDataFetcher else {
            return AttemptObservingDataFetcher(self, observer: observer, timer: timer)
        }
        decorator.base = decorator.base.told(to: observer, timer: timer)
        // The copy shares the transfers, so that observed and unobserved requests are coalesced.
        if let original = self as? CoalescingDataFetcher, let copy = decorator as? CoalescingDataFetcher {
            decorator = copy.sharing(with: original)
        }
        guard var telling = decorator as? any ReportingDataFetcher else { return decorator }
        telling.observers.append(observer)
        return telling
    }
}

/// The end of an observed pipeline, where each request is an attempt.
struct AttemptObservingDataFetcher: DataFetcher {
    var base: any DataFetcher
    var observers = FetchObservers()
    private let timer: TimerService

    init(_ base: any DataFetcher, observer: any FetchObserver, timer: TimerService) {
        self.base = base
        self.timer = timer
        observers.append(observer)
    }

    var honorsDeadlines: Bool { base.honorsDeadlines }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let start = timer.now
        do {
            let response = try await observers.surroundAttempt(request) { request async throws(FetchError) in
                try await base.fetch(request)
            }
            observers.tell { $0.attemptEnded(request, .success(response), after: timer.now - start) }
            return response
        } catch {
            observers.tell { $0.attemptEnded(request, .failure(error), after: timer.now - start) }
            throw error
        }
    }
}
