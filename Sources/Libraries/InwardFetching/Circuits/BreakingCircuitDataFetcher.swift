/// A data fetcher that sends nothing while its circuit is open.
public struct BreakingCircuitDataFetcher: ReportingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    /// The breaker, which may be that of other fetchers too.
    public let breaker: CircuitBreaker
    var observers = FetchObservers()

    init(_ base: any DataFetcher, breaker: CircuitBreaker) {
        self.base = base
        self.breaker = breaker
    }

    /// That a circuit is broken, and which.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.circuitBreaker, "asks nobody while \(breaker.title) is open")
    }

    /// The wrapped fetcher's answer, if the circuit lets the request through.
    ///
    /// - Throws: a ``FetchError`` with ``FetchError/Reason/rejected`` if it does not; otherwise what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let permit = try permit(for: request)
        let response: DataResponse
        do {
            response = try await base.fetch(request)
        } catch {
            tell(breaker.settle(permit, isFailure: breaker.isFailure(error)))
            throw error
        }
        tell(breaker.settle(permit, isFailure: breaker.isFailure(response)))
        return response
    }

    private func permit(for request: DataRequest) throws(FetchError) -> ScopedPermit {
        do {
            let permit = try breaker.permit()
            tell(permit.permit.change)
            return permit
        } catch {
            let error = FetchError(
                .rejected,
                request: request,
                explanation: error.explanation,
                retryAfter: error.retryAfter
            )
            observers.tell { $0.rejected(request, because: error) }
            throw error
        }
    }

    private func tell(_ change: CircuitChange?) {
        guard let change else { return }
        observers.tell { $0.circuitChanged(breaker.name, from: change.from.rawValue, to: change.to.rawValue) }
    }
}

extension DataFetcher {
    /// This fetcher behind a circuit breaker, which sends nothing for a while when too much has failed.
    ///
    /// - Parameter breaker: Decides what is sent. ``CircuitBreaker/standard`` is a new one, for this fetcher alone; make one and
    ///   hand it to several that lead to the same source, and they share what they know of it.
    /// - Returns: the fetcher to hand requests to.
    public func breakingCircuit(_ breaker: CircuitBreaker) -> BreakingCircuitDataFetcher {
        BreakingCircuitDataFetcher(self, breaker: breaker)
    }
}
