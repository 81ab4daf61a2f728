import InterfaceAdapters
import Synchronization

/// Shows users on the terminal, and keeps the program's exit status.
final class TerminalUsersView: UsersView {
    private let terminal: Terminal
    private let ending = Mutex(ExitCode.success)

    init(terminal: Terminal) {
        self.terminal = terminal
    }

    /// How the last thing that was to be shown ended.
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
