import InterfaceAdapters
import Synchronization

/// Asks as one of the sessions that are open: the first of them, until it is closed.
final class SessionsDataFetcher: DataFetcher {
    private struct State {
        var dataFetchers: [(number: Int, dataFetcher: any DataFetcher)] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Adds how a session asks.
    ///
    /// - Returns: what it is removed by.
    func add(_ dataFetcher: any DataFetcher) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.dataFetchers.append((state.lastNumber, dataFetcher))
            return state.lastNumber
        }
    }

    /// Removes how a session asked.
    func remove(_ number: Int) { state.withLock { $0.dataFetchers.removeAll { $0.number == number } } }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        for (_, dataFetcher) in state.withLock(\.dataFetchers) {
            do throws(FetchError) {
                return try await dataFetcher.fetch(request)
            } catch {
                // A session that is closed has not sent it.
                guard error.reason == .closed else { throw error }
            }
        }
        throw FetchError(.closed, request: request, explanation: "was not sent: every session is closed")
    }
}
