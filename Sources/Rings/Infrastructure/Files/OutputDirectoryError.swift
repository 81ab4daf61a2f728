import Foundation

/// Why files were not written to an ``OutputDirectory``.
public struct OutputDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file or directory that it is about.
    public let path: String
    /// What is wrong, and what can be done about it, as whole sentences.
    public let description: String

    init(foreignFile path: String) {
        self.path = path
        description =
            "“\(path)” was written by somebody else and is kept. Name another directory, or move the file away."
    }

    init(path: String, cannotBeWritten explanation: String) {
        self.path = path
        description = "“\(path)” cannot be written: \(explanation)"
    }
}
