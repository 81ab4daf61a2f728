import ArgumentParser
import FeedService
import InwardCore
import InwardObservability
import InwardRepositories
import InwardScopes
import Logging

/// Shows and changes the outbox of the store.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Lists, retries and discards the writes that are pending or were refused.",
        discussion: """
            It needs the store and the upstream of the service, such as --store DIRECTORY --upstream ADDRESS, because the store keeps the \
            writes to each upstream apart. It delivers nothing itself: a running service delivers. With a directory, use it while no \
            service runs, because a service does not notice what another process changes in the directory. The page /outbox on the \
            operator port does the same in a running service.
            """,
        subcommands: [List.self, Retry.self, Discard.self],
        defaultSubcommand: List.self
    )

    /// Runs work with the outboxes, and prints what it returns.
    fileprivate static func run(
        _ options: SettingsOptions,
        _ work: (OperatorOutbox) async throws -> String
    ) async throws {
        let settings = try options.settings()
        guard let store = settings.store else {
            throw ValidationError("Name the store of the service with --store.")
        }
        try store.checkExistence()
        let logger = settings.logFormat.logger("feed-service")
        let app = try await FeedApp(
            settings,
            pendingWrites: .show,
            errorHandler: IgnoringErrorHandler().logging(with: logger)
        )
        do {
            print(try await work(OperatorOutbox(app)), terminator: "")
        } catch {
            try? await app.scope.close()
            throw error
        }
        try await app.scope.close()
    }

    /// Lists the writes.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the writes of all users. (default)")

        @OptionGroup var options: SettingsOptions

        func run() async throws { try await OutboxCommand.run(options) { try await $0.list() } }
    }

    /// Sends a write again.
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a write due now, so that a service delivers it."
        )

        @Argument(help: "The beginning of the identifier of the write, as the list shows it.")
        var id: String

        @OptionGroup var options: SettingsOptions

        func run() async throws { try await OutboxCommand.run(options) { try await $0.retry(id) } }
    }

    /// Removes a write.
    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes a write permanently.")

        @Argument(help: "The beginning of the identifier of the write, as the list shows it.")
        var id: String

        @OptionGroup var options: SettingsOptions

        func run() async throws { try await OutboxCommand.run(options) { try await $0.discard(id) } }
    }
}
