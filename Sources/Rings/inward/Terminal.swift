import Infrastructure
import InterfaceAdapters
import Synchronization

/// Prints the program's results and failures.
struct Terminal {
    let standardOutput: StandardOutput
    let standardError: StandardError

    /// Prints a document.
    func print(_ document: Document) -> ExitCode {
        standardError.clearProgress()
        return print(TextRenderer().render(document))
    }

    /// Prints a line, with control characters made visible so that they cannot affect the terminal.
    func print(line: String) -> ExitCode { print(TextRenderer().render(line: line) + "\n") }

    /// Prints a text unchanged.
    func print(_ text: String) -> ExitCode {
        do {
            try standardOutput.print(text)
            return .success
        } catch {
            return fail(error.description)
        }
    }

    /// Prints why the program failed.
    func fail(_ explanation: String) -> ExitCode {
        standardError.writeLine("inward: \(explanation)")
        return .failure
    }

    /// Prints what is wrong with the arguments, and the usage text.
    func refuse(_ explanation: String) -> ExitCode {
        standardError.writeLine("inward: \(explanation)")
        for line in Arguments.usage.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            standardError.writeLine(String(line))
        }
        return .usage
    }
}

/// The exit status of the program.
enum ExitCode: Int32 {
    /// The task succeeded.
    case success = 0
    /// The upstream failed, or the output could not be written.
    case failure = 1
    /// The arguments were invalid.
    case usage = 2
}

/// Shows users on the terminal, and records the program's exit status.
final class TerminalUsersView: UsersView {
    private let terminal: Terminal
    private let ending = Mutex(ExitCode.success)

    init(terminal: Terminal) {
        self.terminal = terminal
    }

    /// The result of the last output.
    var exitCode: ExitCode { ending.withLock(\.self) }

    func show(_ users: UserListViewModel) { print(users) }

    func show(_ profile: UserProfileViewModel) { print(profile) }

    func show(_ posts: FeedViewModel) { print(posts) }

    func show(_ failure: FailureViewModel) {
        end(with: terminal.fail(failure.line))
    }

    private func print(_ viewModel: some ViewModel) {
        end(with: terminal.print(viewModel.document))
    }

    private func end(with exitCode: ExitCode) {
        ending.withLock { $0 = exitCode }
    }
}
