public import InwardCore

/// A data fetcher that tells an observer what happens to requests, in it and in everything it wraps.
public struct ObservingDataFetcher: DecoratingDataFetcher {
    /// What is wrapped, with the observer in each of its layers.
    public var base: any DataFetcher
    private let observer: (any FetchObserver)?
    private let timer: TimerService

    init(_ base: any DataFetcher, observer: (any FetchObserver)?, timer: TimerService) {
        self.base = observer.map { base.told(to: $0, timer: timer) } ?? base
        self.observer = observer
        self.timer = timer
    }

    /// That requests are observed.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.observation, observer == nil ? "is observed by nobody" : "is observed")
    }

    /// The wrapped fetcher's answer.
    ///
    /// - Throws: what the wrapped fetcher throws.
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
    /// This fetcher, with an observer that is told what happens in all of its layers.
    ///
    /// Each layer that is here when this is called tells the observer, down to the first fetcher that is no
    /// ``DecoratingDataFetcher``: what is handed to that one is an attempt. Layers that are added afterwards tell nothing. What
    /// layers share, such as a circuit breaker, is not copied.
    ///
    /// - Parameters:
    ///   - observer: Who is told; `nil` for nobody, at no cost.
    ///   - timer: What times are told by.
    /// - Returns: the fetcher to hand requests to.
    public func observing(with observer: (any FetchObserver)?, timer: TimerService = .continuous)
        -> ObservingDataFetcher
    {
        ObservingDataFetcher(self, observer: observer, timer: timer)
    }

    /// This fetcher with an observer in each of its layers, and one more at its end that tells attempts.
    fileprivate func told(to observer: any FetchObserver, timer: TimerService) -> any DataFetcher {
        if var probe = self as? AttemptObservingDataFetcher {
            probe.observers.append(observer)
            return probe
        }
        guard var decorator = self as? any DecoratingDataFetcher else {
            return AttemptObservingDataFetcher(self, observer: observer, timer: timer)
        }
        decorator.base = decorator.base.told(to: observer, timer: timer)
        // Observed or not, equal requests are one.
        if let original = self as? CoalescingDataFetcher, let copy = decorator as? CoalescingDataFetcher {
            decorator = copy.sharing(with: original)
        }
        guard var telling = decorator as? any ReportingDataFetcher else { return decorator }
        telling.observers.append(observer)
        return telling
    }
}

/// The end of a pipeline that is observed: what comes here is an attempt.
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
