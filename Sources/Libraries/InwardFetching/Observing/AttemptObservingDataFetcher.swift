import InwardCore

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
