#if PostgreSQL
import InwardRepositories

extension RecordStoreError {
    /// Describes an error of the server to the caller of a store. Never contains a credential.
    init(_ error: ServerError, at place: String, limit: Duration) {
        switch error {
        case .invalidInfo:
            self.init(
                .denied,
                explanation: """
                    The connection string of PostgreSQL cannot be read. It has the form postgresql://USER@HOST:PORT/DATABASE. \
                    Percent-encode special characters of a password.
                    """
            )
        case .unreachable(let reason):
            let isDenied = reason.contains("authentication failed") || reason.contains("permission denied")
            self.init(
                isDenied ? .denied : .unavailable,
                explanation: "\(reason). Nothing was changed. Check that the server runs, and the connection string."
            )
        case .readOnly(let place):
            self.init(
                .unavailable,
                explanation: """
                    \(place) accepts no writes, because it is a standby or read-only. Nothing was changed. Try again after the failover. \
                    If there is none, add the host of the primary to the connection string.
                    """
            )
        case .lost(let reason):
            self.init(
                .unavailable,
                explanation: "The connection to \(place) was lost: \(reason). Try again."
            )
        case .late:
            self.init(
                .unavailable,
                explanation: "\(place) did not answer within \(limit). Try again."
            )
        case .interrupted:
            self.init(.cancelled, explanation: "The task was cancelled, or its deadline passed.")
        case .skipped:
            self.init(.unavailable, explanation: "\(place) skipped a statement. Nothing was changed. Try again.")
        case .refused(let code, let message):
            self.init(
                Self.reason(of: code),
                explanation: "\(place) refused a statement: \(message) (SQLSTATE \(code)). Nothing was changed."
            )
        case .unknownOutcome(let reason):
            self.init(
                .outcomeUnknown,
                explanation: """
                    The connection to \(place) was lost during a commit, and could not be made again in time: \(reason). The changes \
                    may have been made. Read the records before you try again.
                    """
            )
        case .newerSchema(let version):
            self.init(
                .denied,
                explanation: """
                    The tables at \(place) have the version \(version), which is newer than this program. Update the program. \
                    Nothing was changed.
                    """
            )
        }
    }

    /// Returns the reason for an SQLSTATE code.
    private static func reason(of code: String) -> Reason {
        switch code {
        // The disk, or a limit of the database.
        case "53100", "54000": .full
        // Privileges, authentication, and names that do not exist.
        case "42501", "3D000", "3F000", "42P01": .denied
        case "55P03": .busy
        default: code.hasPrefix("28") ? .denied : .unavailable
        }
    }
}
#endif
