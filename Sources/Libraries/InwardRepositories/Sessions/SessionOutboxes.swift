public import InwardFetching
import Synchronization

/// The outboxes of an app's sessions: one for each part of the store, as long as a session is open that has it.
///
/// Two that deliver what is kept in one place would take it from one another, and what the one has accepted the other would not
/// show.
public final class SessionOutboxes: Sendable {
    private struct Shared {
        let outbox: Outbox
        let dataFetcher: SessionsDataFetcher
        var sessionCount = 0
    }

    private struct State {
        var shared: [RecordKey: Shared] = [:]
        /// Those that no session has any more, until they are closed.
        var closing: [RecordKey: Outbox] = [:]
    }

    private let state = Mutex(State())
    private let executor: (any TaskExecutor)?

    /// Makes a set without outboxes.
    ///
    /// - Parameter executor: Where outboxes are opened; `nil` for wherever there is room.
    public init(executor: (any TaskExecutor)? = nil) {
        self.executor = executor
    }

    /// The outbox of a part of the store, for a session more.
    ///
    /// - Parameters:
    ///   - part: What the session keeps its records under.
    ///   - dataFetcher: How the session asks the upstream.
    ///   - make: Makes an outbox that asks through a data fetcher, if no other session has one.
    /// - Returns: the session's share, for the session to open and to close.
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

    private static func make(_ make: (any DataFetcher) -> Outbox) -> Shared {
        let dataFetcher = SessionsDataFetcher()
        return Shared(outbox: make(dataFetcher), dataFetcher: dataFetcher)
    }

    /// Ends a session's share, and the outbox with the last.
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
