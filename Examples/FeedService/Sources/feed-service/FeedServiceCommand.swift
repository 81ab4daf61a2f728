import ArgumentParser
import FeedService
import Foundation

/// A service that serves users and their posts.
@main
struct FeedServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed-service",
        abstract: "Serves users and their posts from an upstream.",
        discussion: """
            Each option can also be set by an environment variable, such as FEED_PORT or FEED_TIME_LIMIT, or in a configuration \
            file in JSON, such as {"port": 8080, "timeLimit": 5}. The command line has precedence, then the environment.
            """,
        subcommands: [ServeCommand.self, OutboxCommand.self, MirrorCommand.self]
    )

    /// Runs a command. If one of its settings is not valid, shows its usage, and not that of this command, as the library would.
    static func main() async {
        var command: any ParsableCommand
        do {
            command = try parseAsRoot()
        } catch {
            exit(withError: error)
        }
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as ValidationError {
            let text = "Error: \(error)\nUsage: \(usageString(for: type(of: command)))\n"
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
            exit(withError: ExitCode.validationFailure)
        } catch {
            exit(withError: error)
        }
    }
}
