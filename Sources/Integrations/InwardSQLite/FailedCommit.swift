#if SQLite
import InwardRepositories

/// A commit that could not be made where others were to be made with it.
struct FailedCommit: Sendable {
    /// Where it is among them.
    let index: Int
    /// What went wrong.
    let error: RecordStoreError
}
#endif
