import Foundation
import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension RecordStoreError {
    /// Why something could not be done to a file, by the system's number for it.
    package init(code: Int32, path: String, _ action: String) {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        let text = error?.localizedFailureReason ?? "error \(code)"
        let (reason, advice): (Reason, String) =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: (.full, "Nothing was changed. Make room there, and do it again.")
            case EACCES, EPERM, EROFS:
                (
                    .denied,
                    "Let the user that this program runs as read and write it, or name another directory."
                )
            case ENOTDIR, EEXIST, ELOOP, EISDIR:
                (.unavailable, "Something else stands in its place. Name another directory.")
            default: (.unavailable, "Nothing was changed.")
            }
        self.init(reason, explanation: "“\(path)” cannot be \(action): \(text). \(advice)")
    }
}
