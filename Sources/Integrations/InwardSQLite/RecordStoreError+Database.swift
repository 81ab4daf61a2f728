#if SQLite
import GRDB
import InwardRepositories

extension RecordStoreError {
    /// Why something could not be done to the database at a path.
    init(_ error: any Error, path: String) {
        if let error = error as? RecordStoreError {
            self = error
            return
        }
        let code = (error as? DatabaseError)?.resultCode
        let text = (error as? DatabaseError)?.message ?? "\(error)"
        let (reason, advice): (Reason, String) =
            switch code {
            case ResultCode.SQLITE_FULL?: (.full, "Make room there, and do it again.")
            case ResultCode.SQLITE_READONLY?, ResultCode.SQLITE_PERM?, ResultCode.SQLITE_AUTH?:
                (
                    .denied,
                    "Let the user that this program runs as read and write it, or name another directory."
                )
            case ResultCode.SQLITE_BUSY?, ResultCode.SQLITE_LOCKED?, ResultCode.SQLITE_PROTOCOL?:
                (.unavailable, "Another program has it locked. End that, or do it again.")
            case ResultCode.SQLITE_TOOBIG?: (.unavailable, "Keep what is so large in several records.")
            default: (.unavailable, "Look at the disk that it is on, and do it again.")
            }
        self.init(reason, explanation: "“\(path)” cannot be used: \(text). Nothing was changed. \(advice)")
    }
}
#endif
