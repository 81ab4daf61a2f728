#if SQLite
import GRDB
import InwardRepositories

/// Commits that are made durable together.
struct RecordTransaction {
    /// How many records that have expired go with one transaction, so that nobody waits for long.
    private static let expiredLimit = 256
    /// How many are looked up at a time.
    private static let batchCount = 64

    let database: Database
    let byteLimit: Int
    let time: Int64
    let path: String

    /// Makes commits, all or none of them. Gives the one that is in the way of the others, if there is one; `nil` if all are made.
    ///
    /// - Throws: what went wrong for all of them.
    func commit(
        _ group: [[RecordChange]],
        _ isAboutToBeFlushed: () throws -> Void
    ) throws -> FailedCommit? {
        var failed: FailedCommit?
        try database.inTransaction(.immediate) {
            let table = RecordTable(database: database)
            let total = RecordTotal(database: database)
            let losses = LossTable(database: database)
            let before = try total.byteCount()
            var byteCount = before
            for (index, changes) in group.enumerated() {
                do {
                    for change in changes {
                        byteCount += try table.apply(change)
                        try losses.remove(change)
                    }
                } catch {
                    // Damage is in the way of all.
                    guard !(error is DamagedRow), DatabaseDamage(error) == nil else { throw error }
                    failed = FailedCommit(index: index, error: RecordStoreError(error, path: path))
                    return .rollback
                }
            }
            byteCount += try letGo(beyond: byteCount)
            if byteCount != before { try total.write(byteCount) }
            try isAboutToBeFlushed()
            return .commit
        }
        return failed
    }

    /// Removes records that expire, those first that do so first: what has expired, and as many as there is no room for.
    /// Gives how many bytes more are kept then, which are fewer.
    private func letGo(beyond byteCount: Int) throws -> Int {
        let table = RecordTable(database: database)
        let statement = try database.cachedStatement(
            sql: """
                SELECT expiry, key FROM records WHERE expiry IS NOT NULL ORDER BY expiry LIMIT \(Self.batchCount)
                """
        )
        var (difference, expiredCount) = (0, 0)
        while true {
            let rows = try Row.fetchAll(statement)
            for row in rows {
                guard case .int64(let expiry) = (row[0] as DatabaseValue).storage,
                    case .blob(let key) = (row[1] as DatabaseValue).storage
                else { throw DatabaseDamage("it does not know what expires") }
                if byteCount + difference <= byteLimit {
                    guard expiry <= time, expiredCount < Self.expiredLimit else { return difference }
                    expiredCount += 1
                }
                difference += try table.removeExpiring(Array(key), at: expiry)
            }
            if rows.count < Self.batchCount { return difference }
        }
    }
}
#endif
