import Foundation
import InterfaceAdapters

/// What a program says beside its output: what it is doing, and what went wrong.
///
/// On a terminal, progress is one line that changes and goes away; elsewhere each step is a plain line. Nothing in a text
/// can act on the terminal.
public struct StandardError: Sendable {
    private let isTerminal: Bool
    private let write: @Sendable (String) -> Void

    /// The standard error of this process.
    public init() {
        self.init(isTerminal: isatty(FileHandle.standardError.fileDescriptor) == 1) { text in
            // What cannot be said, because nobody listens any more, is no reason to stop.
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
        }
    }

    /// A standard error that writes elsewhere.
    public init(isTerminal: Bool, write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Says what is being done now.
    public func showProgress(_ text: String) {
        let text = TextRenderer().render(line: text)
        write(isTerminal ? "\(Self.startOfEmptyLine)\(text)" : "\(text)\n")
    }

    /// Says how far something is that is shown already, on a terminal alone.
    public func updateProgress(_ text: String) {
        if isTerminal { showProgress(text) }
    }

    /// Takes progress away, where it is shown on a line that changes.
    public func clearProgress() {
        if isTerminal { write(Self.startOfEmptyLine) }
    }

    /// Says something that stays, on a line of its own.
    public func writeLine(_ text: String) {
        clearProgress()
        write(TextRenderer().render(line: text) + "\n")
    }

    /// ECMA-48: back to the first column, and erase the line.
    private static let startOfEmptyLine = "\r\u{1B}[2K"
}
