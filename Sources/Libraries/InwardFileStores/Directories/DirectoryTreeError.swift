import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why something in a ``DirectoryTree`` cannot be read.
package struct DirectoryTreeError: Error, Equatable, CustomStringConvertible {
    /// The system's number for what happened.
    package let code: Int32

    /// Whether it says no more than that nothing is there.
    package var meansAbsence: Bool { [ENOENT, ENOTDIR, ENAMETOOLONG].contains(code) }

    /// What happened, as the end of a sentence.
    package var description: String {
        code == ELOOP ? "is a symbolic link, and those are not followed" : "cannot be read: \(systemText)"
    }

    private var systemText: String {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        return error?.localizedFailureReason ?? "error \(code)"
    }
}
