import Infrastructure
import InterfaceAdapters

/// Where the program says what it found, and what went wrong.
struct Terminal {
    let standardOutput: StandardOutput
    let standardError: StandardError

    /// Prints a document.
    func print(_ document: Document) -> ExitCode {
        standardError.clearProgress()
        return print(TextRenderer().render(document))
    }

    /// Prints a line, in which nothing can act on the terminal.
    func print(line: String) -> ExitCode { print(TextRenderer().render(line: line) + "\n") }

    /// Prints a text as it is.
    func print(_ text: String) -> ExitCode {
        do {
            try standardOutput.print(text)
            return .success
        } catch {
            return fail(error.description)
        }
    }

    /// Says why the program did not do what was asked.
    func fail(_ explanation: String) -> ExitCode {
        standardError.writeLine("inward: \(explanation)")
        return .failure
    }

    /// Says what does not fit about the arguments, and how the program is used.
    func refuse(_ explanation: String) -> ExitCode {
        standardError.writeLine("inward: \(explanation)")
        for line in Arguments.usage.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            standardError.writeLine(String(line))
        }
        return .usage
    }
}
