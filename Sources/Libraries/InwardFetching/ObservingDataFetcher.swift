public import InwardCore

/// A data fetcher that reports the events of requests to an observer, in itself and in everything it wraps.
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
        DataFetcherLayer(.observation, observer == nil ? "is observed by nobody" : "is observed")
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
    /// The layers that are present now report to the observer, down to the first fetcher that is not a
    /// ``DecoratingDataFetcher``; each request to that one is an attempt. Layers added afterwards do not report. State that
    /// layers share, such as a circuit breaker, is not copied.
    ///
    /// - Parameters:
    ///   - observer: The observer; `nil` for none, which has no overhead.
    ///   - timer: The source of time.
    /// - Returns: The observed fetcher.
    public func observing(with observer: (any FetchObserver)?, timer: TimerService = .continuous)
        -> ObservingDataFetcher
    {
        ObservingDataFetcher(self, observer: observer, timer: timer)
    }

    /// Returns this fetcher with an observer in each of its layers, and one at its end that reports attempts.
    fileprivate func told(to observer: any FetchObserver, timer: TimerService) -> any DataFetcher {
        if var probe = self as? AttemptObservingDataFetcher {
            probe.observers.append(observer)
            return probe
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
    let base: any DataFetcher
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
