import Foundation

/// The standard output of a program.
///
/// ```swift
/// try StandardOutput().print("10 users.\n")
/// ```
public struct StandardOutput: Sendable {
    /// Whether the output is a terminal.
    public let isTerminal: Bool
    private let write: @Sendable (String) throws -> Void

    /// Creates the standard output of this process.
    public init() {
        self.init(isTerminal: isatty(FileHandle.standardOutput.fileDescriptor) == 1) { text in
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
    }

    /// Creates a standard output that passes its text to a closure.
    public init(isTerminal: Bool = false, write: @escaping @Sendable (String) throws -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Writes a text unchanged.
    ///
    /// - Throws: A ``StandardOutputError`` if the text could not be written.
    public func print(_ text: String) throws(StandardOutputError) {
        do {
            try write(text)
        } catch {
            throw StandardOutputError(error)
        }
    }

    /// Draws a text at the top of a terminal, and clears the rest of the screen. Elsewhere, appends the text and an empty line.
    ///
    /// - Throws: A ``StandardOutputError`` if the text could not be written.
    public func redraw(_ text: String) throws(StandardOutputError) {
        guard isTerminal else { return try print(text + "\n") }
        // ECMA-48: moves to the first line, erases the rest of each line, and erases the rest of the screen after the last
        // line.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\u{1B}[K\n")
        try print("\u{1B}[H\(lines)\u{1B}[J")
    }
}

/// An error that explains why the output could not be written.
///
/// ```swift
/// do {
///     try StandardOutput().print("10 users.\n")
/// } catch {
///     StandardError().writeLine("example: \(error)")
/// }
/// ```
public struct StandardOutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, as a complete sentence.
    public let description: String

    init(_ error: any Error) {
        description = "The output cannot be written: \(error.localizedDescription)"
    }
}
