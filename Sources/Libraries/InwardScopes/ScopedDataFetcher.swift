public import InwardCore
public import InwardFetching

/// A data fetcher that works while a scope is open and before an optional deadline.
///
/// When the scope closes or the deadline passes, a request in flight is cancelled. Later requests fail and are not sent. The
/// fetcher holds the scope rather than the scope's objects, so retaining it keeps nothing else alive.
///
///     let fetcher = ScopedDataFetcher(scope) { $0.dataFetcher }
public struct ScopedDataFetcher<Level: Lifetime, Objects: Sendable>: DataFetcher {
    private let scope: Scope<Level, Objects>
    private let deadline: Deadline?
    private let base: @Sendable (Objects) -> any DataFetcher

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - scope: The scope.
    ///   - deadline: The time by which each request must be answered; `nil` for none.
    ///   - base: Returns the wrapped fetcher, which is one of the scope's objects.
    public init(
        _ scope: Scope<Level, Objects>,
        until deadline: Deadline? = nil,
        base: @escaping @Sendable (Objects) -> any DataFetcher
    ) {
        self.scope = scope
        self.deadline = deadline
        self.base = base
    }

    /// Returns the response to a request.
    ///
    /// - Throws: the wrapped fetcher's errors; a `FetchError` with the reason `closed` if the scope is closed, `interrupted` if it
    ///   closed without waiting for the request any longer, or `timedOut` if the deadline passed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let result: Result<DataResponse, FetchError>
        do {
            result = try await scope.run { [deadline, base] objects async throws(FetchError) in
                let base = base(objects)
                guard let deadline else { return try await base.fetch(request) }
                let result = await deadline.bound { () async throws(FetchError) in try await base.fetch(request) }
                guard let result else {
                    throw FetchError(.timedOut, request: request, explanation: "was not answered before the deadline")
                }
                return try result.get()
            }
        } catch {
            throw error.workBegan
                ? FetchError(.interrupted, request: request, explanation: "came to an end too late: \(error)")
                : FetchError(.closed, request: request, explanation: "was not sent: \(error)")
        }
        return try result.get()
    }
}
