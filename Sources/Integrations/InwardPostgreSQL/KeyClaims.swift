#if PostgreSQL
import InwardRepositories
import Synchronization

/// The claims of a store on its keys. Each is an advisory lock of one session, which is kept as long as the store.
final class KeyClaims: Sendable {
    /// The claim of a key. It ends once, when it is released or deallocated.
    private final class Ownership: Sendable {
        private let number: Int64
        private let claims: KeyClaims
        private let isReleased = Atomic(false)

        init(_ number: Int64, _ claims: KeyClaims) {
            self.number = number
            self.claims = claims
        }

        deinit {
            let (number, claimed) = (number, claims.claimed)
            guard !isReleased.load(ordering: .relaxed) else { return }
            claims.session.perform { connection in claimed.end(number, on: connection) }
        }

        /// Releases the claim, and returns when the key can be claimed again.
        func release() async {
            isReleased.store(true, ordering: .relaxed)
            let (number, claimed) = (number, claims.claimed)
            // Resumed exactly once: by the work, or here if the session is closed, which ends all claims.
            await withCheckedContinuation { continuation in
                let isAccepted = claims.session.perform { connection in
                    claimed.end(number, on: connection)
                    continuation.resume()
                }
                if !isAccepted { continuation.resume() }
            }
        }
    }

    /// The numbers of the claimed keys, and of those that the current session has locked.
    private final class Claimed: Sendable {
        /// The pause between attempts to lock keys again that another session has locked.
        private static let pause = Duration.seconds(1)

        private struct Numbers {
            var claimed: Set<Int64> = []
            var locked: Set<Int64> = []
        }

        private let state = Mutex(Numbers())

        func contains(_ number: Int64) -> Bool { state.withLock { $0.claimed.contains(number) } }

        func insert(_ number: Int64) {
            state.withLock { state in
                state.claimed.insert(number)
                state.locked.insert(number)
            }
        }

        /// Locks the claimed keys in a new session, which has locked none.
        func lockAgain(on connection: ServerConnection, _ limit: Duration) throws(ServerError) {
            state.withLock { $0.locked = [] }
            try lockRest(on: connection, limit)
        }

        /// Locks the claimed keys that the session has not locked, because the session before had not ended yet.
        func lockRest(on connection: ServerConnection, _ limit: Duration) throws(ServerError) {
            let rest = state.withLock { $0.claimed.subtracting($0.locked).sorted() }
            guard !rest.isEmpty else { return }
            let rows = try connection.run(rest.map { Statement(.claim, [.integer($0)]) }, within: limit)
            state.withLock { state in
                for (number, row) in zip(rest, rows) where row.first?.bytes(0) == [1] { state.locked.insert(number) }
            }
        }

        /// Connects again and locks what is missing. Returns when to try again, or `nil` if nothing is missing.
        func keep(on connection: ServerConnection, _ settings: PoolSettings) -> Duration? {
            guard state.withLock({ !$0.claimed.isEmpty }) else { return nil }
            do throws(ServerError) {
                try settings.connect(connection, until: .now + settings.timeLimit)
                try lockRest(on: connection, settings.timeLimit)
            } catch {}
            return connection.isConnected && state.withLock { $0.claimed == $0.locked } ? nil : Self.pause
        }

        /// Ends a claim. If the connection is lost, the server has ended it.
        func end(_ number: Int64, on connection: ServerConnection?) {
            let (isClaimed, isLocked) = state.withLock { state in
                (state.claimed.remove(number) != nil, state.locked.remove(number) != nil)
            }
            guard isClaimed, isLocked, let connection, connection.isConnected else { return }
            let statement = Statement(.release, [.integer(number)])
            do throws(ServerError) {
                _ = try connection.run([statement], within: .seconds(5), isInterruptible: false)
            } catch {
                // Ends all locks. Those of the other claims are taken again.
                connection.disconnect()
            }
        }
    }

    private let session: ConnectionPool
    private let claimed = Claimed()

    /// Creates claims with a session of their own.
    init(_ settings: PoolSettings) {
        let claimed = claimed
        session = ConnectionPool(
            PoolSettings(
                info: settings.info,
                application: settings.application,
                connectionLimit: 1,
                timeLimit: settings.timeLimit,
                connectionTimeLimit: settings.connectionTimeLimit,
                reachability: settings.reachability,
                prepare: { connection, limit throws(ServerError) in
                    try settings.prepare(connection, limit)
                    try claimed.lockAgain(on: connection, limit)
                },
                whenIdle: { connection, settings in claimed.keep(on: connection, settings) }
            )
        )
    }

    /// Ends all claims.
    func close() { session.close() }

    /// Claims a key, or returns its owner.
    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        let key = key.encoded
        let claimed = claimed
        let outcome = try await session.write {
            connection,
            limit throws(ServerError) -> (number: Int64, owner: String?) in
            guard let number = connection.session?.lock.number(ofClaim: key) else {
                throw .lost("the session is not prepared")
            }
            guard !claimed.contains(number) else {
                return (number, "another part of this process")
            }
            let rows = try connection.run(
                [Statement(.claim, [.integer(number)])],
                within: limit,
                isInterruptible: false
            )
            if rows.first?.first?.bytes(0) == [1] {
                claimed.insert(number)
                return (number, nil)
            }
            let owners = try connection.run(
                [Statement(.owner, [.integer(number)])],
                within: limit,
                isInterruptible: false
            )
            let owner = owners.first?.first?.text(0) ?? ""
            return (number, owner.isEmpty ? "another process" : owner)
        }
        if let owner = outcome.owner { return .owned(by: owner) }
        let ownership = Ownership(outcome.number, self)
        return .claimed(RecordClaim { await ownership.release() })
    }
}
#endif
