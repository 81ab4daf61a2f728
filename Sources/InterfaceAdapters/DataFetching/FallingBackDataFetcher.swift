import UseCases

/// A data fetcher that answers otherwise when the one it wraps fails. Such an answer is marked by
/// ``DataResponse/degradation``.
public struct FallingBackDataFetcher: TellingDataFetcher {
    enum Fallback: Sendable {
        case fetcher(any DataFetcher)
        case response(DataResponse)
    }

    private static let reasons: Set<FetchError.Reason> = [.rejected, .unreachable, .untrusted, .timedOut, .interrupted]

    /// What is wrapped.
    public var base: any DataFetcher
    private let fallback: Fallback
    private let methods: Set<DataRequest.Method>
    var observers = FetchObservers()

    init(_ base: any DataFetcher, fallback: Fallback, methods: Set<DataRequest.Method>) {
        self.base = base
        self.fallback = fallback
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
            guard Self.isFailure(response.status) else { return response }
            failed = .success(response)
        } catch {
            guard Self.isFailure(error) else { throw error }
            failed = .failure(error)
        }
        return try await response(to: request, inPlaceOf: failed)
    }

    private static func isFailure(_ status: DataResponse.Status) -> Bool { (500..<600).contains(status.code) }

    private static func isFailure(_ error: FetchError) -> Bool {
        reasons.contains(error.reason) || error.status.map(isFailure) ?? false
    }

    private func response(
        to request: DataRequest,
        inPlaceOf failed: Result<DataResponse, FetchError>
    ) async throws(FetchError) -> DataResponse {
        guard methods.contains(request.method), var response = try await fallbackResponse(to: request) else {
            return try failed.get()
        }
        let error =
            switch failed {
            case .success(let response): FetchError(response, to: request)
            case .failure(let error): error
            }
        response.degradation = error
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
    /// It fails when nothing was sent because of a limit or an open circuit, when nobody was reached or nobody to be trusted,
    /// when the answer did not come in time or not whole, and when its status is one of 500 to 599. If the other fetcher
    /// fails too, or its answer is not one of success, the outcome is that of this one.
    ///
    /// - Parameters:
    ///   - fallback: The fetcher that is asked then. Observers of the pipeline are not told what happens in it.
    ///   - methods: The methods of the requests that it is asked, by default those that change nothing.
    /// - Returns: the fetcher to hand requests to.
    public func fallingBack(
        to fallback: any DataFetcher,
        for methods: Set<DataRequest.Method> = [.get, .head]
    ) -> FallingBackDataFetcher {
        FallingBackDataFetcher(self, fallback: .fetcher(fallback), methods: methods)
    }

    /// This fetcher, and an answer that is given when it fails.
    ///
    /// It fails by the same measure as where another fetcher is asked then, and the answer is marked likewise.
    ///
    /// - Parameters:
    ///   - fallback: The answer that is given then, whatever its status. Its origin is the memory.
    ///   - methods: The methods of the requests that it is given to, by default those that change nothing.
    /// - Returns: the fetcher to hand requests to.
    public func fallingBack(
        to fallback: DataResponse,
        for methods: Set<DataRequest.Method> = [.get, .head]
    ) -> FallingBackDataFetcher {
        var fallback = fallback
        fallback.origin = .memory
        return FallingBackDataFetcher(self, fallback: .response(fallback), methods: methods)
    }
}
