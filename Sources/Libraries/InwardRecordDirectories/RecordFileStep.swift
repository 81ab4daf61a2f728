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

/// An injected failure of a system call, for testing how a store handles it.
package struct RecordFileFault: Sendable {
    /// Returns the failure for a step, or `nil` to make the system call.
    package typealias Source = @Sendable (RecordFileStep) -> RecordFileFault?

    /// The `errno` code of the failure.
    package let code: Int32
    /// The number of bytes that a write writes before it fails.
    package let writtenCount: Int

    /// Creates a fault with an `errno` code.
    package init(code: Int32, writtenCount: Int = 0) {
        self.code = code
        self.writtenCount = writtenCount
    }
}

/// The `errno` code of a failed system call.
package struct SystemError: Error {
    package let code: Int32
}

extension RecordFileStep {
    /// Makes a system call, and repeats it if a signal interrupts it.
    ///
    /// - Parameters:
    ///   - faults: The failures to inject instead.
    ///   - call: The system call. On failure, it returns a negative number and sets `errno`.
    /// - Returns: The result of the call.
    /// - Throws: A `SystemError` if the call fails for any other reason.
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
    /// Creates an error for a system call that failed. The action completes “cannot be …”, for example `opened`.
    package init(code: Int32, path: String, _ action: String) {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        let text = error?.localizedFailureReason ?? "error \(code)"
        let (reason, advice): (Reason, String) =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: (.full, "Nothing was changed. Free some space there, and try again.")
            case EACCES, EPERM, EROFS:
                (
                    .denied,
                    "Give the user that runs this program read and write access, or use another directory."
                )
            case ENOTDIR, EEXIST, ELOOP, EISDIR:
                (.unavailable, "Something else is in its place. Use another directory.")
            default: (.unavailable, "Nothing was changed.")
            }
        self.init(reason, explanation: "“\(path)” cannot be \(action): \(text). \(advice)")
    }
}
