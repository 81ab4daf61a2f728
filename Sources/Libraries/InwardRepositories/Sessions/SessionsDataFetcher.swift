import InwardFetching
import Synchronization

/// Asks as one of the sessions of a user that are open: the one that came last, whose credentials are the newest; and where they
/// are not taken, as the one before.
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
        var turnedAway: DataResponse?
        var attempts = 0
        for (_, dataFetcher) in state.withLock(\.dataFetchers).reversed() {
            do throws(FetchError) {
                var response = try await dataFetcher.fetch(request)
                attempts += response.retries?.attempts ?? 1
                if attempts > 1 { response.retries = Self.report(attempts) }
                // RFC 9110 section 15.5.2: nothing was done, for want of credentials that are valid.
                guard response.status == .unauthorized else { return response }
                turnedAway = turnedAway ?? response
                turnedAway?.retries = response.retries
            } catch {
                // A session that is closed has not sent it.
                guard error.reason == .closed else {
                    attempts += error.retries?.attempts ?? (error.wasSent ? 1 : 0)
                    throw attempts > 1 ? error.reporting(Self.report(attempts)) : error
                }
            }
        }
        if let turnedAway { return turnedAway }
        throw FetchError(.closed, request: request, explanation: "was not sent: every session is closed")
    }

    private static func report(_ attempts: Int) -> RetryReport {
        RetryReport(attempts: attempts, ending: "each with other credentials")
    }
}
