import Composition
import Infrastructure
import InterfaceAdapters
import InwardCommandLine
import InwardFetching
import InwardFileStores
import InwardRepositories
import InwardScopes

/// The command, from its arguments to its output and exit status.
struct QuickLook {
    /// The time limit for the gallery. Images take longer than lists, especially in unoptimized builds.
    private static let galleryLimit = Duration.seconds(300)

    /// The time limit for a mirror. If it passes, the next run resumes the mirror.
    private static let mirrorLimit = Duration.seconds(86_400)

    let terminal: Terminal
    var standardInput = AppContainer.standardInput
    let interruptions: @Sendable () -> AsyncStream<Void>
    /// The time limit for each request and each close; `nil` for the app's defaults.
    var patience: Duration?

    /// Performs the task that the arguments after the program's name describe.
    func run(_ arguments: [String]) async -> ExitCode {
        let options: Arguments
        do {
            options = try Arguments(arguments)
        } catch {
            return terminal.refuse(error.explanation)
        }
        if options.task == .help { return terminal.print(Arguments.usage) }
        let app: AppContainer
        do {
            let usual = AppConfiguration.sample
            let configuration = try AppConfiguration(
                upstream: options.upstream,
                idleTimeout: patience ?? usual.idleTimeout,
                store: options.store,
                imageAddressPolicy: options.imageAddressPolicy,
                timeLimit: patience ?? usual.timeLimit,
                closingLimit: patience ?? usual.closingLimit,
                policy: UpstreamPolicy(
                    attemptTimeLimit: options.timeout ?? patience ?? usual.policy.attemptTimeLimit,
                    requestTimeLimit: patience ?? usual.policy.requestTimeLimit
                )
            )
            let standardError = terminal.standardError
            app = try await AppContainer(
                configuration,
                pendingWrites: pendingWrites(for: options.task),
                writeError: { standardError.writeLine("inward: \($0)") },
                writingErrorsWhere: errorsToWrite(for: options.task)
            )
        } catch {
            return terminal.refuse("\(error)")
        }
        let exitCode = await perform(options.task, in: app)
        do {
            try await app.close()
            return exitCode
        } catch {
            return terminal.fail(error.description)
        }
    }

    /// Returns what a task does with the pending posts. Only a publishing process delivers them and owns an outbox in a directory, so
    /// that others can read and discard at the same time.
    private func pendingWrites(for task: Arguments.Task) -> PendingWrites { task == .publish ? .deliver : .show }

    /// Returns which failures are written to standard error.
    ///
    /// `--publish` writes every failure, and so does every task whose output is not a terminal. On a terminal, the other tasks
    /// write only damage to the store, undeliverable posts and a paused outbox, because their output shows all other failures.
    private func errorsToWrite(for task: Arguments.Task) -> @Sendable (any Error) -> Bool {
        if !terminal.standardOutput.isTerminal || task == .publish { return { _ in true } }
        return { $0 is RecordDamage || $0 is UndeliverableEntryError || $0 is OutboxPausedError }
    }

    private func perform(_ task: Arguments.Task, in app: AppContainer) async -> ExitCode {
        do {
            let user = try await UserContainer(.guest, in: app, pendingWrites: pendingWrites(for: task))
            if let failure = user.storeFailure {
                // Otherwise, the error handler has already written it.
                if terminal.standardOutput.isTerminal, task != .publish { _ = terminal.fail(failure.description) }
                if task == .publish {
                    return terminal.fail("Nothing was published, because the store cannot be opened.")
                }
            }
            let exitCode = try await perform(task, as: user, in: app)
            if task != .outbox(.list) { await reportRefusals(of: user) }
            return exitCode
        } catch {
            return terminal.fail("\(error)")
        }
    }

    /// Reports the posts that the upstream has refused, now or earlier, and that the user has not yet retried or discarded.
    private func reportRefusals(of user: UserContainer) async {
        // A store that cannot be read was reported earlier.
        guard user.storeFailure == nil, let line = try? await user.withOutbox({ try await $0.refusals() }) ?? nil else {
            return
        }
        terminal.standardError.writeLine("inward: \(line)")
    }

    private func perform(_ task: Arguments.Task, as user: UserContainer, in app: AppContainer) async throws -> ExitCode
    {
        switch task {
        case .help: return .success
        case .outbox(let action): return try await manageOutbox(of: user, action)
        case .overview(let output): return try await showOverview(of: user, output: output, in: app)
        case .open(let destination): return try await show(destination, to: user, in: app)
        case .mirror(let directory): return try await mirror(into: directory, as: user, of: app)
        case .publish: return try await publish(as: user)
        case .watch(let interval): return try await watch(as: user, every: interval)
        }
    }

    private func manageOutbox(of user: UserContainer, _ action: Arguments.OutboxAction) async throws -> ExitCode {
        do {
            switch action {
            case .list:
                guard let outbox = try await user.withOutbox({ try await $0.list() }) else { return .success }
                return terminal.print(outbox.document)
            case .retry(let id):
                guard let (line, isDelivered) = try await user.withOutbox({ try await $0.retry(id) }) else {
                    return .success
                }
                let printed = terminal.print(line: line)
                return isDelivered ? printed : .failure
            case .discard(let id):
                guard let line = try await user.withOutbox({ try await $0.discard(id) }) else { return .success }
                return terminal.print(line: line)
            }
        } catch let failure as FailureViewModel {
            return terminal.fail(failure.line)
        }
    }

    private func showOverview(of user: UserContainer, output: String?, in app: AppContainer) async throws -> ExitCode {
        terminal.standardError.showProgress("Loading users and posts from \(app.upstreamName) …")
        do {
            let overview = try await OverviewContainer(in: user).withInteraction { try await $0.overview() }
            let exitCode = terminal.print(overview.document)
            guard exitCode == .success, let output else { return exitCode }
            let gallery = try await gallery(for: user)
            try app.outputDirectory(at: output).write([
                .page("index.html", of: overview.document, by: overview.generator),
                try .json("index.json", of: overview, by: overview.generator),
                .page("gallery.html", of: gallery.document, by: gallery.generator),
            ])
            terminal.standardError.writeLine("Wrote index.html, index.json and gallery.html into \(output).")
            return .success
        } catch let failure as FailureViewModel {
            return terminal.fail(failure.line)
        }
    }

    private func gallery(for user: UserContainer) async throws -> GalleryViewModel {
        let standardError = terminal.standardError
        standardError.showProgress("Loading images …")
        return try await GalleryContainer(in: user).withInteraction(within: Self.galleryLimit) { interaction in
            try await interaction.gallery { standardError.updateProgress($0) }
        }
    }

    private func show(_ destination: Destination, to user: UserContainer, in app: AppContainer) async throws -> ExitCode
    {
        terminal.standardError.showProgress("Loading \(destination) from \(app.upstreamName) …")
        let view = TerminalUsersView(terminal: terminal)
        let users = try UsersContainer(in: user, router: CommandRouter(option: "--open"))
        await users.makeModule(for: view).open(destination)
        return view.exitCode
    }

    private func watch(as user: UserContainer, every interval: Duration) async throws -> ExitCode {
        let interruptions = interruptions()
        let viewModel = try await FeedContainer(in: user).viewModel
        return await FeedWatch(terminal: terminal, viewModel: viewModel).run(every: interval, until: interruptions)
    }

    private func publish(as user: UserContainer) async throws -> ExitCode {
        let interruptions = interruptions()
        let feed = try await FeedContainer(in: user)
        let publishing = PublishRun(
            terminal: terminal,
            lines: standardInput.lines(upTo: PostLineController.byteLimit),
            publish: { line throws(FailureViewModel) in try await feed.publish(line: line) },
            deliver: { try await user.deliver() }
        )
        return try await publishing.run(until: interruptions)
    }

    private func mirror(into directory: String, as user: UserContainer, of app: AppContainer) async throws -> ExitCode {
        let (standardError, interruptions) = (terminal.standardError, interruptions())
        standardError.showProgress("Mirroring \(app.upstreamName) …")
        let mirror = try MirrorContainer(in: user)
        let mirroring = MirrorRun(terminal: terminal) {
            try await mirror.withInteraction(within: Self.mirrorLimit) { interaction in
                try await interaction.mirror(into: directory) { standardError.updateProgress($0) }
            }
        }
        return try await mirroring.run(until: interruptions)
    }
}
