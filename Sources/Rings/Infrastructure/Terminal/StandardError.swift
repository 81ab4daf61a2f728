import Foundation
import InterfaceAdapters

/// The standard error of a program, for progress and failures.
///
/// ```swift
/// let standardError = StandardError()
/// standardError.showProgress("Loading 3 of 10 …")
/// standardError.writeLine("example: The upstream is not available.")
/// ```
///
/// On a terminal, progress is a single line that is overwritten and cleared. Elsewhere, each step is a plain line. Control
/// characters in a text do not reach the terminal.
public struct StandardError: Sendable {
    private let isTerminal: Bool
    private let write: @Sendable (String) -> Void

    /// Creates the standard error of this process.
    public init() {
        self.init(isTerminal: isatty(FileHandle.standardError.fileDescriptor) == 1) { text in
            // A failed write to standard error, such as to a closed pipe, must not stop the program.
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
        }
    }

    /// Creates a standard error that passes its text to a closure.
    public init(isTerminal: Bool, write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Shows the current step: replaces the progress line on a terminal, and writes a line elsewhere.
    public func showProgress(_ text: String) {
        let text = TextRenderer().render(line: text)
        write(isTerminal ? "\(Self.startOfEmptyLine)\(text)" : "\(text)\n")
    }

    /// Updates the progress line on a terminal. Elsewhere, does nothing.
    public func updateProgress(_ text: String) {
        if isTerminal { showProgress(text) }
    }

    /// Clears the progress line on a terminal. Elsewhere, does nothing.
    public func clearProgress() {
        if isTerminal { write(Self.startOfEmptyLine) }
    }

    /// Clears the progress line, and writes a line that stays.
    public func writeLine(_ text: String) {
        clearProgress()
        write(TextRenderer().render(line: text) + "\n")
    }

    /// ECMA-48: returns to the first column and erases the line.
    private static let startOfEmptyLine = "\r\u{1B}[2K"
}
