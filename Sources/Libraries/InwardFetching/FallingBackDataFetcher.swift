import InwardCore

/// A data fetcher that answers otherwise when the one it wraps fails. Such an answer is marked by
/// ``DataResponse/fallbackReason``.
public struct FallingBackDataFetcher: ReportingDataFetcher {
    enum Fallback: Sendable {
        case fetcher(any DataFetcher)
        case response(DataResponse)
    }

    /// Who gave up, or asked for what cannot be had, is told so.
    private static let finalReasons: Set<FetchError.Reason> = [.cancelled, .closed, .invalidRequest]

    /// What is wrapped.
    public var base: any DataFetcher
    private let fallback: Fallback
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

    /// What answers in place.
    public var layer: DataFetcherLayer {
        switch fallback {
        case .fetcher: DataFetcherLayer(.fallback, "falls back to another fetcher")
        case .response: DataFetcherLayer(.fallback, "falls back to a fixed answer")
        }
    }

    /// Whether both fetchers do.
    public var honorsDeadlines: Bool {
        switch fallback {
        case .fetcher(let other): base.honorsDeadlines && other.honorsDeadlines
        case .response: base.honorsDeadlines
        }
    }

    /// The wrapped fetcher's answer, or the one in its place, if there is one.
    ///
    /// - Throws: what the wrapped fetcher throws; a ``FetchError`` with ``FetchError/Reason/cancelled`` if the task is cancelled
    ///   while another is asked.
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

    /// What is answered in place; `nil` if that fails too.
    private func fallbackResponse(to request: DataRequest) async throws(FetchError) -> DataResponse? {
        switch fallback {
        case .response(let response):
            return response
        case .fetcher(let other):
            do {
                let response = try await other.fetch(request)
                return response.status.isSuccess ? response : nil
            } catch {
                // Who is cancelled is told so, and not what went wrong before.
                guard error.reason == .cancelled, Task.isCancelled else { return nil }
                throw error
            }
        }
    }
}

extension DataFetcher {
    /// This fetcher, and another one that is asked when it fails.
    ///
    /// If the other fetcher fails too, or its answer is not one of success, the outcome is that of this one.
    ///
    /// - Parameters:
    ///   - fallback: The fetcher that is asked then. Observers of the pipeline are not told what happens in it.
    ///   - failures: What counts as a failure. ``FetchError/Reason/cancelled``, ``FetchError/Reason/closed`` and
    ///     ``FetchError/Reason/invalidRequest`` never do.
    ///   - methods: The methods of the requests that it is asked, by default those that change nothing.
    /// - Returns: the fetcher to hand requests to.
    public func fallingBack(
        to fallback: any DataFetcher,
        when failures: FailureCriteria = .unavailable,
        for methods: Set<DataRequest.Method> = [.get, .head]
    ) -> FallingBackDataFetcher {
        FallingBackDataFetcher(self, fallback: .fetcher(fallback), failures: failures, methods: methods)
    }

    /// This fetcher, and an answer that is given when it fails.
    ///
    /// - Parameters:
    ///   - fallback: The answer that is given then, whatever its status. Its origin is the memory.
    ///   - failures: What counts as a failure. ``FetchError/Reason/cancelled``, ``FetchError/Reason/closed`` and
    ///     ``FetchError/Reason/invalidRequest`` never do.
    ///   - methods: The methods of the requests that it is given to, by default those that change nothing.
    /// - Returns: the fetcher to hand requests to.
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
