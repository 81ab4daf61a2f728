import ArgumentParser
import FeedService

/// Copies the upstream into a directory.
struct MirrorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror",
        abstract: "Copies the users, the posts and the images of the upstream into a directory.",
        discussion: "If it is interrupted, run it again to resume. The directory can be served as an upstream."
    )

    @Argument(help: "The directory, which does not have to exist.")
    var directory: String

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        print(try await FeedMirror(options.settings(), directory: directory)())
    }
}
