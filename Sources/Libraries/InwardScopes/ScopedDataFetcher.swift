public import InwardCore
public import InwardFetching

/// A data fetcher that works only while a scope is open, and only until a deadline if it has one.
///
/// ```swift
/// let limit = ClosingLimit(.seconds(5), on: ContinuousClock())
/// let scope = await Scope<AppLifetime, URLSessionDataFetcher>.open("downloads", limit: limit) { _ in
///     URLSessionDataFetcher()
/// }
/// let fetcher = ScopedDataFetcher(scope) { client in client }
/// ```
///
/// When the scope closes or the deadline passes, the requests in flight are cancelled, and later requests fail without being
/// sent. The fetcher retains the scope but not its objects, which are released when the scope closes.
public struct ScopedDataFetcher<Level: Lifetime, Objects: Sendable>: DataFetcher {
    private let scope: Scope<Level, Objects>
    private let deadline: Deadline?
    private let base: @Sendable (Objects) -> any DataFetcher

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - scope: The scope.
    ///   - deadline: The time by which every request must be answered, or `nil` for none.
    ///   - base: Returns the wrapped fetcher from the scope's objects.
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
    /// - Throws: The wrapped fetcher's errors, or a `FetchError` with the reason `closed` if the scope was closed before the
    ///   request was sent, `interrupted` if the request did not end in time when the scope closed, or `timedOut` if the
    ///   deadline passed.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let result: Result<DataResponse, FetchError>?
        do {
            result = try await scope.run(by: { _ in deadline }) { [base] objects async throws(FetchError) in
                try await base(objects).fetch(request)
            }
        } catch {
            throw error.workBegan
                ? FetchError(.interrupted, request: request, explanation: "was interrupted: \(error)")
                : FetchError(.closed, request: request, explanation: "was not sent: \(error)")
        }
        guard let result else {
            throw FetchError(.timedOut, request: request, explanation: "was not answered before the deadline")
        }
        return try result.get()
    }
}
