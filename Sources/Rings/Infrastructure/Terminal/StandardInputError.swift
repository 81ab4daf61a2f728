import Foundation

/// Why nothing more could be read.
public struct StandardInputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, as a whole sentence.
    public let description: String

    /// Says why, as a part of a sentence.
    public init(_ reason: String) {
        description = "The input cannot be read: \(reason)."
    }

    /// Says why by the system's number for it.
    init(code: Int32) {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        self.init(error?.localizedFailureReason ?? "error \(code)")
    }
}
