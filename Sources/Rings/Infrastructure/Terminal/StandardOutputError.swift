import Foundation

/// Why something was not printed.
public struct StandardOutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, as a whole sentence.
    public let description: String

    init(_ error: any Error) {
        description = "The output cannot be written: \(error.localizedDescription)"
    }
}
