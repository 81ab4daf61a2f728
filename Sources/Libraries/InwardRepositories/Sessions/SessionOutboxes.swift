public import InwardCore
public import InwardFetching
import Synchronization

/// The outboxes of an app's sessions. Sessions that use the same part of the store share an outbox. The last of them to end
/// closes it.
///
/// ```swift
/// func shares(of outboxes: SessionOutboxes, at place: RepositoryStore, _ errors: any ErrorHandler) {
///     let phone = outboxes.outbox(of: place, at: upstream, timer: .continuous, errorHandler: errors)
///     let browser = outboxes.outbox(of: place, at: upstream, timer: .continuous, errorHandler: errors)
///     print(phone.outbox === browser.outbox)  // true
/// }
/// ```
///
/// Sharing is necessary because only one outbox can own the records, and another one would not show the writes that the owner
/// accepted.
public final class SessionOutboxes: Sendable {
    private struct Shared {
        let outbox: Outbox
        let dataFetcher: SessionsDataFetcher
        var sessionCount = 0
    }

    private struct State {
        var shared: [RecordKey: Shared] = [:]
        /// Outboxes that no session uses anymore, until they are closed.
        var closing: [RecordKey: Outbox] = [:]
    }

    private let state = Mutex(State())
    private let executor: (any TaskExecutor)?

    /// Creates an empty set of outboxes.
    ///
    /// - Parameter executor: The executor on which outboxes are opened, or `nil` for the default.
    public init(executor: (any TaskExecutor)? = nil) {
        self.executor = executor
    }

    /// Returns a share of the outbox for a part of the store.
    ///
    /// - Parameters:
    ///   - part: The key prefix of the session's records.
    ///   - dataFetcher: The data fetcher of the session.
    ///   - make: Creates an outbox with a data fetcher. Called if no other session has an outbox for the part.
    /// - Returns: the session's share, which the session must open and close.
    public func outbox(
        of part: RecordKey,
        asking dataFetcher: any DataFetcher,
        make: (any DataFetcher) -> Outbox
    ) -> SessionOutbox {
        state.withLock { state in
            var one = state.shared[part] ?? Self.make(make)
            one.sessionCount += 1
            state.shared[part] = one
            let number = one.dataFetcher.add(dataFetcher)
            return SessionOutbox(one.outbox, behind: state.closing[part], executor: executor) { [self] in
                await end(part, number)
            }
        }
    }

    /// Returns a share of the outbox that belongs to a store location.
    ///
    /// ```swift
    /// func share(of outboxes: SessionOutboxes, for place: RepositoryStore, _ errors: any ErrorHandler) -> SessionOutbox {
    ///     outboxes.outbox(of: place, at: upstream, timer: .continuous, errorHandler: errors)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - place: The store location of the session's repositories.
    ///   - upstream: The upstream, whose data fetcher sends the session's credentials.
    ///   - policy: The limits of the outbox.
    ///   - timer: The timer service that measures waits and wakes the outbox.
    ///   - observer: The observer of the outbox, or `nil` for none.
    ///   - errorHandler: Receives errors that have no caller to throw to, such as refused writes.
    /// - Returns: the session's share, which the session must open and close.
    public func outbox(
        of place: RepositoryStore,
        at upstream: Upstream,
        policy: OutboxPolicy = .standard,
        timer: TimerService,
        observer: (any RepositoryObserver)? = nil,
        errorHandler: any ErrorHandler
    ) -> SessionOutbox {
        outbox(of: place.partition, asking: upstream.dataFetcher) { dataFetcher in
            Outbox(
                upstream: upstream.asked(through: dataFetcher),
                store: place.records,
                prefix: place.outboxPrefix,
                policy: policy,
                timer: timer,
                observer: observer,
                errorHandler: errorHandler
            )
        }
    }

    /// Waits until the pending writes of all users with a session are delivered or refused, up to a deadline.
    ///
    /// - Parameter deadline: When to stop waiting.
    /// - Returns: the number of these users' writes that are still pending in the store, and the failures to read it.
    package func deliver(by deadline: Deadline) async -> (pendingCount: Int, failures: [RecordStoreError]) {
        let outboxes = state.withLock { $0.shared.values.map(\.outbox) }
        return await withTaskGroup { group in
            for outbox in outboxes {
                group.addTask {
                    do throws(RecordStoreError) {
                        return Result<Int, RecordStoreError>.success(try await outbox.deliver(by: deadline))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: (pendingCount: 0, failures: [])) { total, result in
                switch result {
                case .success(let count): total.pendingCount += count
                case .failure(let error): total.failures.append(error)
                }
            }
        }
    }

    private static func make(_ make: (any DataFetcher) -> Outbox) -> Shared {
        let dataFetcher = SessionsDataFetcher()
        return Shared(outbox: make(dataFetcher), dataFetcher: dataFetcher)
    }

    /// Ends a session's share, and closes the outbox with the last one.
    private func end(_ part: RecordKey, _ number: Int) async {
        let last = state.withLock { state -> Outbox? in
            guard var one = state.shared[part] else { return nil }
            one.dataFetcher.remove(number)
            one.sessionCount -= 1
            state.shared[part] = one.sessionCount > 0 ? one : nil
            guard one.sessionCount == 0 else { return nil }
            state.closing[part] = one.outbox
            return one.outbox
        }
        guard let last else { return }
        await last.close()
        state.withLock { state in
            if state.closing[part] === last { state.closing[part] = nil }
        }
    }
}

/// A data fetcher that sends requests through the user's most recent open session, whose credentials are the newest. If they
/// are rejected or cannot be renewed, it tries the previous sessions.
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
