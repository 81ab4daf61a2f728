import InterfaceAdapters
import InwardCommandLine

/// The parsed command line of the program.
struct Arguments: Equatable {
    /// The usage text.
    static let usage = """
        usage: inward [UPSTREAM] [--store DIRECTORY] [--timeout SECONDS]
                      [--output DIRECTORY | --open PLACE | --watch SECONDS | --mirror DIRECTORY | --publish |
                       --outbox [--retry ID | --discard ID]]

          UPSTREAM            where users and posts come from: an address that begins with http:// or https://,
                              or a directory that mirrors one (users.json, posts.json).
                              Without it: a sample that is part of the program.
          --output DIRECTORY  also write what is shown as index.html and index.json into this directory, and the
                              users' images as gallery.html.
          --open PLACE        show what is at a place: users, users/7, users/7/posts, posts, and so on.
          --watch SECONDS     show the feed, and again what has become of it every so many seconds, until interrupted.
          --mirror DIRECTORY  copy users, posts and images into this directory, which is an upstream then. What is there
                              changes when all is copied. Interrupted and run again, it is finished.
          --publish           publish posts from standard input, one a line of at most 1 MiB:
                              {"userId": 7, "title": "Notes", "body": "On the engine."}
                              What became of each is printed before the next is read. With --store a line may have a
                              "website", which becomes the author's: the post and it are accepted, or neither is.
          --outbox            list the posts in --store that wait for the upstream, and those that it refused. This needs no
                              upstream that can be reached; with another UPSTREAM it lists that one's posts.
          --retry ID          send one of them again now. As much of the ID as no other begins with is enough.
          --discard ID        remove one of them for good.
          --store DIRECTORY   keep users and posts in this directory, and show what it has while the upstream is away.
                              A post is published when the upstream takes it, and accepted as soon as it is safe here. It
                              is then delivered for up to 30 seconds when the input ends, and by the next --publish; once, if
                              the upstream honours idempotency keys. Posts that the upstream refuses are reported and kept.
                              What is of one upstream is not shown as another's. Several programs may use one directory;
                              one at a time publishes, and others wait for it for up to 30 seconds.
          --timeout SECONDS   give up an attempt to ask UPSTREAM after so many seconds; 5 unless it is said.
          --help              show this and do nothing else.

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
    private(set) var task = Task.overview(output: nil)

    /// Parses the arguments after the program's name.
    ///
    /// - Throws: a ``UsageError`` for the first invalid argument.
    init(_ arguments: some Sequence<String>) throws(UsageError) {
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
            case .option("--store", _): store = try parser.value(directory)
            case .option("--timeout", _):
                timeout = try parser.value("a number of seconds, from 0.01 to 3600", convert: Self.timeLimit)
            case .option("--help", nil), .option("-h", nil): task = .help
            case .option: throw parser.unknownOption
            case .positional(let text):
                guard upstream == nil else { throw UsageError("there can be one upstream") }
                upstream = text
            }
        }
        if case .outbox = task, store == nil { throw UsageError("--outbox needs --store, where the posts are kept") }
    }

    private mutating func choose(_ action: OutboxAction) throws(UsageError) {
        switch task {
        case .help: return
        case .outbox(.list), .overview(output: nil): task = .outbox(action)
        default: throw UsageError("--retry and --discard are for --outbox, one at a time")
        }
    }

    private mutating func choose(_ chosen: Task) throws(UsageError) {
        switch task {
        case .help: return
        case .overview(output: nil): task = chosen
        default: throw UsageError("there can be one of --output, --open, --watch, --mirror, --publish and --outbox")
        }
    }

    private static func interval(_ text: String) -> Duration? {
        guard let seconds = Int(text), (1...86_400).contains(seconds) else { return nil }
        return .seconds(seconds)
    }

    private static func timeLimit(_ text: String) -> Duration? {
        guard let seconds = Double(text), (0.01...3_600).contains(seconds) else { return nil }
        return .seconds(seconds)
    }
}
