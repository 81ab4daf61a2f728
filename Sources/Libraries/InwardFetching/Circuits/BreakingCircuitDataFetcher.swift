/// A data fetcher that rejects requests while its circuit is open.
public struct BreakingCircuitDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    /// The circuit breaker, which other fetchers may share.
    public let breaker: CircuitBreaker
    var observers = FetchObservers()

    init(_ base: any DataFetcher, breaker: CircuitBreaker) {
        self.base = base
        self.breaker = breaker
    }

    /// The description of this layer, with the circuit's name.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.circuitBreaker, "asks nobody while \(breaker.title) is open")
    }

    /// Returns the wrapped fetcher's response if the circuit permits the request.
    ///
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/rejected`` if the circuit rejects the request; otherwise, errors
    ///   of the wrapped fetcher.
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
    /// Returns this fetcher with a circuit breaker, which rejects requests for a while after too many failures.
    ///
    /// - Parameter breaker: The circuit breaker. ``CircuitBreaker/standard`` creates one for this fetcher alone. To share
    ///   what several fetchers learn about the same upstream, create one breaker and pass it to each of them.
    /// - Returns: The fetcher with the circuit breaker.
    public func breakingCircuit(_ breaker: CircuitBreaker) -> BreakingCircuitDataFetcher {
        BreakingCircuitDataFetcher(self, breaker: breaker)
    }
}
