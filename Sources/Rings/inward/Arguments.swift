import InterfaceAdapters
import InwardCommandLine
import InwardFetching

/// The parsed command line of the program.
struct Arguments: Equatable {
    /// The usage text.
    static let usage = """
        usage: inward [UPSTREAM] [--store STORE] [--timeout SECONDS] [--image-hosts HOSTS]
                      [--output DIRECTORY | --open PLACE | --watch SECONDS | --mirror DIRECTORY | --publish |
                       --outbox [--retry ID | --discard ID]]

        Shows the users and posts of an upstream, publishes posts to it, or copies it.

          UPSTREAM            where users and posts come from: an address that begins with http:// or https://, or a
                              directory with users.json and posts.json, such as a mirror. Default: a built-in sample.
          --output DIRECTORY  also write the overview as index.html and index.json, and the users' images as
                              gallery.html, into this directory.
          --open PLACE        show one place: users, users/7, users/7/posts, posts, and so on.
          --watch SECONDS     show the feed, and refresh it at this interval until interrupted.
          --mirror DIRECTORY  copy users, posts and images into this directory, which can then be used as UPSTREAM.
                              The directory changes only when the copy is complete. Run it again to resume an
                              interrupted copy.
          --publish           publish posts from standard input, one JSON object of at most 1 MiB per line:
                              {"userId": 7, "title": "Notes", "body": "On the engine."}
                              The outcome of each line is printed before the next line is read. With --store, a line
                              may have a "website", which becomes the author's website. The post and the website are
                              accepted together, or neither is.
          --outbox            list the posts in --store that are waiting for delivery to UPSTREAM, or that it refused.
                              UPSTREAM does not have to be reachable.
          --retry ID          send one of these posts again now. The beginning of its ID is enough if it is unique.
          --discard ID        remove one of these posts permanently.
          --store STORE       keep users and posts in this directory, and show them while UPSTREAM is unavailable. In a build
                              with --traits PostgreSQL, STORE can also be postgresql://USER@HOST/DATABASE.
                              A post is accepted as soon as it is stored here, and published when UPSTREAM accepts it.
                              When the input ends, delivery continues for up to 30 seconds; the next --publish delivers
                              the rest. If UPSTREAM honors idempotency keys, each post is published once. Refused posts
                              are reported and kept. Each upstream has its own data in the store. Several programs
                              can use the store. With a directory, only one publishes at a time: others wait for up to
                              30 seconds. With a database, any number do, on any machines, and deliver for each other.
          --timeout SECONDS   the time limit for each attempt of a request to UPSTREAM. Default: 5.
          --image-hosts HOSTS also load images from these hosts, separated by commas, or from all hosts of the public
                              internet if HOSTS is public. Default: only from the host of UPSTREAM. Needs a build with
                              --traits AsyncHTTPClient.
          --help              show this text, and do nothing else.

        """

    /// The task to perform.
    enum Task: Equatable {
        case overview(output: String?)
        case open(Destination)
        case watch(every: Duration)
        case mirror(into: String)
        case publish
        case outbox(OutboxAction)
        case help
    }

    /// The outbox operation to perform.
    enum OutboxAction: Equatable {
        case list
        case retry(String)
        case discard(String)
    }

    private(set) var upstream: String?
    private(set) var store: String?
    private(set) var timeout: Duration?
    /// The policy for image addresses besides those of the upstream; `nil` to allow no others.
    private(set) var imageAddressPolicy: AddressPolicy?
    private(set) var task = Task.overview(output: nil)

    /// Parses the arguments after the program's name.
    ///
    /// - Throws: A ``UsageError`` for the first invalid argument.
    init(_ arguments: [String]) throws(UsageError) {
        let directory = "a directory"
        let identifier = "the beginning of an ID that --outbox lists"
        var parser = OptionParser(arguments)
        while let argument = parser.next() {
            switch argument {
            case .option("--output", _): try choose(.overview(output: parser.value(directory)))
            case .option("--open", _):
                try choose(.open(parser.value("a place, such as users/7") { Destination($0) }))
            case .option("--watch", _):
                try choose(.watch(every: parser.value("a number of seconds, from 1 to 86400", convert: Self.interval)))
            case .option("--mirror", _): try choose(.mirror(into: parser.value(directory)))
            case .option("--publish", nil): try choose(.publish)
            case .option("--outbox", nil):
                if case .outbox = task { break }
                try choose(.outbox(.list))
            case .option("--retry", _): try choose(.retry(parser.value(identifier)))
            case .option("--discard", _): try choose(.discard(parser.value(identifier)))
            case .option("--store", _): store = try parser.value("a directory or a database")
            case .option("--timeout", _):
                timeout = try parser.value("a number of seconds, from 0.01 to 3600", convert: Self.timeLimit)
            case .option("--image-hosts", _):
                imageAddressPolicy = try parser.value("host names, or public", convert: Self.imageAddressPolicy)
            case .option("--help", nil), .option("-h", nil): task = .help
            case .option: throw parser.unknownOption
            case .positional(let text):
                guard upstream == nil else { throw UsageError("only one UPSTREAM is allowed") }
                upstream = text
            }
        }
        if case .outbox = task, store == nil {
            throw UsageError("--outbox needs --store, which has the posts")
        }
    }

    private mutating func choose(_ action: OutboxAction) throws(UsageError) {
        switch task {
        case .help: return
        case .outbox(.list), .overview(output: nil): task = .outbox(action)
        default: throw UsageError("--retry and --discard can be used only with --outbox, and not together")
        }
    }

    private mutating func choose(_ chosen: Task) throws(UsageError) {
        switch task {
        case .help: return
        case .overview(output: nil): task = chosen
        default:
            throw UsageError("only one of --output, --open, --watch, --mirror, --publish and --outbox is allowed")
        }
    }

    private static func interval(_ text: String) -> Duration? {
        guard let seconds = Int(text), (1...86_400).contains(seconds) else { return nil }
        return .seconds(seconds)
    }

    private static func imageAddressPolicy(_ text: String) -> AddressPolicy? {
        if text == "public" { return .publicInternet }
        return try? AddressPolicy(
            hosts: Set(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        )
    }

    private static func timeLimit(_ text: String) -> Duration? {
        guard let seconds = Double(text), (0.01...3_600).contains(seconds) else { return nil }
        return .seconds(seconds)
    }
}
