import ArgumentParser
import FeedService

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
}
