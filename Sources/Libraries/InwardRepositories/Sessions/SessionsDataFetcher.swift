import InwardFetching
import Synchronization

/// Sends requests with the data fetcher of the user's most recent open session, whose credentials are the newest. If they are
/// rejected, or cannot be renewed, tries the previous sessions.
final class SessionsDataFetcher: DataFetcher {
    private struct State {
        var dataFetchers: [(number: Int, dataFetcher: any DataFetcher)] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Adds a session's data fetcher.
    ///
    /// - Returns: the number with which to remove it.
    func add(_ dataFetcher: any DataFetcher) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.dataFetchers.append((state.lastNumber, dataFetcher))
            return state.lastNumber
        }
    }

    /// Removes a session's data fetcher.
    func remove(_ number: Int) { state.withLock { $0.dataFetchers.removeAll { $0.number == number } } }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        var turnedAway: DataResponse?
        var withoutCredentials: FetchError?
        var attempts = 0
        for (_, dataFetcher) in state.withLock(\.dataFetchers).reversed() {
            do throws(FetchError) {
                var response = try await dataFetcher.fetch(request)
                attempts += response.retries?.attempts ?? 1
                if attempts > 1 { response.retries = Self.report(attempts) }
                // RFC 9110 section 15.5.2: nothing was done, because the credentials were not valid.
                guard response.status == .unauthorized else { return response }
                turnedAway = turnedAway ?? response
                turnedAway?.retries = response.retries
            } catch {
                if error.lacksCredentials, error.reason != .cancelled {
                    withoutCredentials = withoutCredentials ?? error
                } else if error.reason != .closed {
                    attempts += error.retries?.attempts ?? (error.wasSent ? 1 : 0)
                    throw attempts > 1 ? error.reporting(Self.report(attempts)) : error
                }
                // Neither a closed session nor one without credentials has sent the request.
            }
        }
        if let turnedAway { return turnedAway }
        if let withoutCredentials { throw withoutCredentials }
        throw FetchError(.closed, request: request, explanation: "was not sent: every session is closed")
    }

    private static func report(_ attempts: Int) -> RetryReport {
        RetryReport(attempts: attempts, ending: "each with other credentials")
    }
}
