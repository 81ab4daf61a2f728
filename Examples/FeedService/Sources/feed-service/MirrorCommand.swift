import ArgumentParser
import FeedService

/// Copies the upstream into a directory.
struct MirrorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror",
        abstract: "Copies the users, the posts and the images of the upstream into a directory.",
        discussion: """
            If it is interrupted, run it again to resume. The directory then has the lists users.json and posts.json, and the images in \
            avatars, but no comments. The command inward shows such a directory. It is not an upstream of this service by itself, \
            which asks a server for /users, /posts and /posts/7, for example.
            """
    )

    @Argument(help: "The directory, which does not have to exist.")
    var directory: String

    @OptionGroup var options: UpstreamOptions

    func run() async throws {
        print(try await FeedMirror(options.settings(), directory: directory)())
    }
}
