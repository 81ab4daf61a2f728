import InwardCore
import InwardFetching
import InwardScopes

/// A data fetcher that answers as long as a scope is open and the deadline, if there is one, has not passed: what is under way then is
/// cancelled, and afterwards nothing is sent.
///
/// It holds the scope and not the scope's objects, so keeping it keeps nothing else alive.
struct ScopedDataFetcher<Level: Lifetime, Objects: Sendable>: DataFetcher {
    let scope: Scope<Level, Objects>
    let deadline: Deadline?
    /// The fetcher behind this one, which is one of the scope's objects.
    let base: @Sendable (Objects) -> any DataFetcher

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
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
