import InwardCore

/// A data fetcher that answers with a fallback when the wrapped fetcher fails. ``DataResponse/fallbackReason`` marks such
/// responses. Create it with ``DataFetcher/fallingBack(to:when:for:)-(DataFetcher,_,_)``.
public struct FallingBackDataFetcher: ReportingDataFetcher {
    enum Fallback: Sendable {
        case fetcher(any DataFetcher)
        case response(DataResponse)
    }

    /// Reasons that do not trigger the fallback, because the caller gave up or no fetcher could answer.
    private static let finalReasons: Set<FetchError.Reason> = [.cancelled, .closed, .invalidRequest, .addressRefused]

    /// The wrapped fetcher.
    public var base: any DataFetcher
    var fallback: Fallback
    private let failures: FailureCriteria
    private let methods: Set<DataRequest.Method>
    var observers = FetchObservers()

    init(
        _ base: any DataFetcher,
        fallback: Fallback,
        failures: FailureCriteria,
        methods: Set<DataRequest.Method>
    ) {
        self.base = base
        self.fallback = fallback
        self.failures = failures
        self.methods = methods
    }

    /// The description of this layer, with the kind of fallback.
    public var layer: DataFetcherLayer {
        switch fallback {
        case .fetcher: DataFetcherLayer(.fallback, "falls back to another fetcher")
        case .response: DataFetcherLayer(.fallback, "falls back to a fixed response")
        }
    }

    /// Whether both fetchers honor deadlines.
    public var honorsDeadlines: Bool {
        switch fallback {
        case .fetcher(let other): base.honorsDeadlines && other.honorsDeadlines
        case .response: base.honorsDeadlines
        }
    }

    /// Returns the response of the wrapped fetcher, or that of the fallback if the wrapped fetcher fails and the fallback
    /// succeeds. A request with ``DataRequest/isSentOnce`` has no fallback.
    ///
    /// - Throws: Errors of the wrapped fetcher; a ``FetchError`` with ``FetchError/Reason/cancelled`` if the task is cancelled
    ///   while the fallback runs.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let failed: Result<DataResponse, FetchError>
        do {
            let response = try await base.fetch(request)
            guard failures.isFailure(response) else { return response }
            failed = .success(response)
        } catch {
            guard failures.isFailure(error), !Self.finalReasons.contains(error.reason) else { throw error }
            failed = .failure(error)
        }
        return try await response(to: request, inPlaceOf: failed)
    }

    private func response(
        to request: DataRequest,
        inPlaceOf failed: Result<DataResponse, FetchError>
    ) async throws(FetchError) -> DataResponse {
        guard methods.contains(request.method), !request.isSentOnce,
            var response = try await fallbackResponse(to: request)
        else {
            return try failed.get()
        }
        let error =
            switch failed {
            case .success(let response): FetchError(response, to: request)
            case .failure(let error): error
            }
        response.fallbackReason = error
        observers.tell { $0.fellBack(request, because: error) }
        return response
    }

    /// Returns the fallback's response; `nil` if the fallback fails too.
    private func fallbackResponse(to request: DataRequest) async throws(FetchError) -> DataResponse? {
        switch fallback {
        case .response(let response):
            return response
        case .fetcher(let other):
            do {
                let response = try await other.fetch(request)
                return response.status.isSuccess ? response : nil
            } catch {
                // Report the cancellation rather than the earlier failure.
                guard error.reason == .cancelled, Task.isCancelled else { return nil }
                throw error
            }
        }
    }
}

extension DataFetcher {
    /// Returns this fetcher with another one as its fallback.
    ///
    /// If the fallback fails too, or its status is not a success, the outcome of this fetcher is returned or thrown.
    ///
    /// ```swift
    /// let mirror = client.timingOut(after: .seconds(1))
    /// let news = client.timingOut(after: .seconds(2)).fallingBack(to: mirror)
    /// ```
    ///
    /// - Parameters:
    ///   - fallback: The fetcher to fall back to. Observers of the pipeline do not receive its events.
    ///   - failures: The criteria for failures. ``FetchError/Reason/cancelled``, ``FetchError/Reason/closed``,
    ///     ``FetchError/Reason/invalidRequest`` and ``FetchError/Reason/addressRefused`` never count.
    ///   - methods: The methods of requests that the fallback answers; by default, `GET` and `HEAD`.
    /// - Returns: The fetcher with the fallback.
    public func fallingBack(
        to fallback: any DataFetcher,
        when failures: FailureCriteria = .unavailable,
        for methods: Set<DataRequest.Method> = [.get, .head]
    ) -> FallingBackDataFetcher {
        FallingBackDataFetcher(self, fallback: .fetcher(fallback), failures: failures, methods: methods)
    }

    /// Returns this fetcher with a fixed response as its fallback.
    ///
    /// ```swift
    /// let news = client.fallingBack(to: DataResponse(body: Data("[]".utf8)))
    /// ```
    ///
    /// - Parameters:
    ///   - fallback: The fallback response, with any status. Its origin is set to memory.
    ///   - failures: The criteria for failures. ``FetchError/Reason/cancelled``, ``FetchError/Reason/closed``,
    ///     ``FetchError/Reason/invalidRequest`` and ``FetchError/Reason/addressRefused`` never count.
    ///   - methods: The methods of requests that the fallback answers; by default, `GET` and `HEAD`.
    /// - Returns: The fetcher with the fallback.
    public func fallingBack(
        to fallback: DataResponse,
        when failures: FailureCriteria = .unavailable,
        for methods: Set<DataRequest.Method> = [.get, .head]
    ) -> FallingBackDataFetcher {
        var fallback = fallback
        fallback.origin = .memory
        return FallingBackDataFetcher(self, fallback: .response(fallback), failures: failures, methods: methods)
    }
}
