import Foundation
import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A system call that a store is about to make.
package enum RecordFileStep: Equatable, Sendable {
    case open(String)
    case status(String)
    case setMode(String)
    case read(String, at: Int, count: Int)
    case write(String, byteCount: Int)
    case flush(String)
    case truncate(String)
    case lock(String)
    case rename(String)
    case remove(String)
    case list
    case makeDirectory(String)
    case flushDirectory
}

/// A failure of a system call, for the tests of what a store does then.
package struct RecordFileFault: Sendable {
    /// Returns what goes wrong in a step; `nil` to make the system call.
    package typealias Source = @Sendable (RecordFileStep) -> RecordFileFault?

    /// The system's number for what goes wrong.
    package let code: Int32
    /// How many bytes are written before that.
    package let writtenCount: Int

    /// Makes a fault by the system's number for it.
    package init(code: Int32, writtenCount: Int = 0) {
        self.code = code
        self.writtenCount = writtenCount
    }
}

/// The system's number for why a call failed.
package struct SystemError: Error {
    package let code: Int32
}

extension RecordFileStep {
    /// Makes a system call, and makes it again where a signal interrupted it.
    ///
    /// - Parameters:
    ///   - faults: What goes wrong instead.
    ///   - call: The call. It gives a negative number, and sets `errno`, if it fails.
    /// - Returns: What the call gave.
    /// - Throws: a `SystemError` if it failed otherwise.
    package func perform<Number: SignedInteger>(
        _ faults: RecordFileFault.Source,
        _ call: () -> Number
    ) throws(SystemError) -> Number {
        while true {
            let code: Int32
            if let fault = faults(self) {
                code = fault.code
            } else {
                let number = call()
                if number >= 0 { return number }
                code = errno
            }
            guard code == EINTR else { throw SystemError(code: code) }
        }
    }
}

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
