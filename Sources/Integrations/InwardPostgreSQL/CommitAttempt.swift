#if PostgreSQL
import InwardRepositories

/// One attempt to make a commit, in two exchanges with the server. The first makes the changes, and the second commits them. If
/// the connection is lost in between, the server is asked for the number of the session's last commit.
struct CommitAttempt {
    /// The pause between questions while the server cannot be reached.
    private static let pause = Duration.milliseconds(50)
    /// The time that is left for the second exchange.
    private static let reserve = Duration.seconds(1)

    let connection: ServerConnection
    let limit: Duration

    /// Makes a commit.
    ///
    /// - Returns: The first condition that is not met, or `nil` if the commit was made.
    /// - Throws: A `ServerError`. Nothing was changed, unless it is `unknownOutcome`.
    func make(_ commit: RecordCommit) throws(ServerError) -> RecordCondition? {
        let end = ContinuousClock.now + limit
        guard var session = connection.session else { throw .lost("the session is not prepared") }
        session.beginCommit()
        connection.session = session
        do throws(ServerError) {
            let (statements, check) = commit.statements(in: session.lock)
            let rows = try run(statements + [session.statement], until: end)
            if let check, let place = rows[check].first?.integer(0) {
                rollBack()
                return commit.conditions[Int(place) - 1]
            }
            guard .now + Self.reserve < end else { throw ServerError.late }
        } catch {
            rollBack()
            throw error
        }
        do throws(ServerError) {
            _ = try run([Statement(.commit)], until: end)
        } catch {
            if case .refused = error, !error.endsTheConnection {
                rollBack()
                throw error
            }
            connection.disconnect()
            try checkOutcome(of: session, after: error)
        }
        return nil
    }

    /// Runs statements to their end. Nothing interrupts them.
    private func run(
        _ statements: [Statement],
        until end: ContinuousClock.Instant
    ) throws(ServerError) -> [[Row]] {
        try connection.run(statements, within: end - .now, isInterruptible: false)
    }

    /// Ends a transaction that failed.
    private func rollBack() {
        guard connection.isConnected else { return }
        do { _ = try run([Statement(sql: "ROLLBACK")], until: .now + Self.reserve) } catch { connection.disconnect() }
    }

    /// Asks the server for the last commit of a session that was lost, until it answers or the time limit has passed once more.
    ///
    /// - Throws: A `ServerError`: `lost` if the commit was not made, and `unknownOutcome` if the server does not say.
    private func checkOutcome(of session: StoreSession, after error: ServerError) throws(ServerError) {
        let end = ContinuousClock.now + limit
        // The connection is not prepared, so it is not used for anything else.
        defer { connection.disconnect() }
        while .now < end {
            let number: Int64?
            do throws(ServerError) {
                if !connection.isConnected { try connection.connect(within: end - .now) }
                // Waits until the old session has ended. Locks the row, so that it also waits until the commit is as durable as
                // the commits that the server confirms: one that was cut off may not be on the standby yet.
                number = try run([RecordSchema.durability, session.question], until: end).last?.first?.integer(0)
            } catch {
                connection.disconnect()
                connection.idle(for: Self.pause)
                continue
            }
            // After a failover, the session may not be known.
            guard let number else { break }
            if number == session.number { return }
            throw .lost("the commit was not made")
        }
        throw .unknownOutcome("\(error)")
    }
}
#endif
