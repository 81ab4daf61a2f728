import Foundation

/// Where a program writes what it was asked for.
public struct StandardOutput: Sendable {
    /// Whether a person may be looking.
    public let isTerminal: Bool
    private let write: @Sendable (String) throws -> Void

    /// The standard output of this process.
    public init() {
        self.init(isTerminal: isatty(FileHandle.standardOutput.fileDescriptor) == 1) { text in
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
    }

    /// A standard output that writes elsewhere.
    public init(isTerminal: Bool = false, write: @escaping @Sendable (String) throws -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Writes a text as it is.
    ///
    /// - Throws: a ``StandardOutputError`` if it did not get through.
    public func print(_ text: String) throws(StandardOutputError) {
        do {
            try write(text)
        } catch {
            throw StandardOutputError(error)
        }
    }

    /// Writes a text of lines in the place of the one before, on a terminal; elsewhere behind it, with an empty line between.
    ///
    /// - Throws: a ``StandardOutputError`` if it did not get through.
    public func redraw(_ text: String) throws(StandardOutputError) {
        guard isTerminal else { return try print(text + "\n") }
        // ECMA-48: to the first line, each line erased behind its end, and the rest of the screen behind the last.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\u{1B}[K\n")
        try print("\u{1B}[H\(lines)\u{1B}[J")
    }
}

/// Why something was not printed.
public struct StandardOutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, as a whole sentence.
    public let description: String

    init(_ error: any Error) {
        description = "The output cannot be written: \(error.localizedDescription)"
    }
}
