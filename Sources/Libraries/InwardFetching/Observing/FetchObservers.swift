/// Those who are told what happens in a pipeline, the innermost first. Without any, nothing is spent on it.
struct FetchObservers: Sendable {
    private var observers: [any FetchObserver] = []

    mutating func append(_ observer: any FetchObserver) { observers.append(observer) }

    func tell(_ tell: (any FetchObserver) -> Void) {
        guard !observers.isEmpty else { return }
        for observer in observers { tell(observer) }
    }

    /// Has every observer surround an attempt, the outermost around the others.
    func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        try await surround(observers[...], request, fetch)
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
