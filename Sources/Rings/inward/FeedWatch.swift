import Infrastructure
import InterfaceAdapters

/// The run of `--watch`, which shows the feed and its changes until the user interrupts it.
struct FeedWatch {
    let terminal: Terminal
    let viewModel: PostListViewModel

    /// Refreshes and draws until the first interruption, or until the output can no longer be written.
    func run(every interval: Duration, until interruptions: AsyncStream<Void>) async -> ExitCode {
        await withTaskGroup(of: ExitCode?.self) { group in
            group.addTask { await draw() }
            group.addTask {
                try? await viewModel.keepRefreshing(every: interval, on: ContinuousClock())
                return nil
            }
            group.addTask {
                for await _ in interruptions { return .success }
                return nil
            }
            defer { group.cancelAll() }
            for await case let exitCode? in group { return exitCode }
            return .success
        }
    }

    private func draw() async -> ExitCode? {
        for await state in viewModel.states where terminal.standardOutput.isTerminal || !state.isLoading {
            do {
                try terminal.standardOutput.redraw(TextRenderer().render(state.document))
            } catch {
                return terminal.fail(error.description)
            }
        }
        return nil
    }
}

extension PostListState {
    /// Whether another state will replace this one soon.
    fileprivate var isLoading: Bool {
        switch self {
        case .idle, .loading: true
        case .loaded, .failed: false
        }
    }
}
