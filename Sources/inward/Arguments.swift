import InterfaceAdapters

/// What the program is told on its command line.
struct Arguments: Equatable {
    /// How the program is used.
    static let usage = """
        usage: inward [UPSTREAM] [--store DIRECTORY]
                      [--output DIRECTORY | --open PLACE | --watch SECONDS | --mirror DIRECTORY | --publish]

          UPSTREAM            where users and posts come from: an address that begins with http:// or https://,
                              or a directory that mirrors one (users.json, posts.json).
                              Without it: a sample that is part of the program.
          --output DIRECTORY  also write what is shown as index.html and index.json into this directory, and the
                              users' pictures as gallery.html.
          --open PLACE        show what is at a place: users, users/7, users/7/posts, posts, and so on.
          --watch SECONDS     show the feed, and again what has become of it every so many seconds, until interrupted.
          --mirror DIRECTORY  copy users, posts and pictures into this directory, which is an upstream then. What is there
                              changes when all is copied. Interrupted and run again, it is finished.
          --publish           publish posts from standard input, one a line of at most 1 MiB:
                              {"userId": 7, "title": "Notes", "body": "On the engine."}
                              What became of each is printed before the next is read.
          --store DIRECTORY   keep users and posts in this directory, and show what it has while the upstream is away.
                              A post is published when the upstream takes it, and accepted as soon as it is safe here: it
                              is delivered behind that, for up to 30 seconds when the input ends, and by the next start.
                              What is of one upstream is not shown as another's. One program at a time uses it.
          --help              show this and do nothing else.

        """

    /// What is to be done.
    enum Task: Equatable {
        case overview(output: String?)
        case open(Destination)
        case watch(every: Duration)
        case mirror(into: String)
        case publish
        case help
    }

    private(set) var upstream: String?
    private(set) var store: String?
    private(set) var task = Task.overview(output: nil)

    /// Reads the arguments behind the program's name.
    ///
    /// - Throws: a ``UsageError`` at the first argument that does not fit.
    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var remaining = Array(arguments)[...]
        var optionsMayFollow = true
        while let argument = remaining.popFirst() {
            switch argument {
            case "--" where optionsMayFollow:
                optionsMayFollow = false
            case "--help" where optionsMayFollow, "-h" where optionsMayFollow:
                task = .help
            case "--publish" where optionsMayFollow:
                try choose(.publish)
            case _ where optionsMayFollow && argument.hasPrefix("-"):
                try setOption(argument, &remaining)
            default:
                guard upstream == nil else { throw UsageError("there can be one upstream") }
                upstream = argument
            }
        }
    }

    private mutating func setOption(_ argument: String, _ remaining: inout ArraySlice<String>) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = Option(rawValue: parts[0]) else { throw UsageError("there is no option \(argument)") }
        guard let value = parts.count == 2 ? parts[1] : remaining.popFirst(), !value.isEmpty else {
            throw UsageError("\(option.rawValue) wants \(option.wanted)")
        }
        if let task = try option.task(value) { return try choose(task) }
        guard store == nil else { throw UsageError("there can be one --store") }
        store = value
    }

    private mutating func choose(_ chosen: Task) throws(UsageError) {
        switch task {
        case .help: return
        case .overview(output: nil): task = chosen
        default: throw UsageError("there can be one of --output, --open, --watch, --mirror and --publish")
        }
    }

    /// An option that has a value.
    private enum Option: String {
        case output = "--output"
        case open = "--open"
        case watch = "--watch"
        case mirror = "--mirror"
        case store = "--store"

        /// What the value is.
        var wanted: String {
            switch self {
            case .output, .mirror, .store: "a directory"
            case .open: "a place, such as users/7"
            case .watch: "a number of seconds, from 1 to 86400"
            }
        }

        /// What is to be done with the value; `nil` if that is the same whatever is to be done.
        func task(_ value: String) throws(UsageError) -> Task? {
            switch self {
            case .output:
                return .overview(output: value)
            case .mirror:
                return .mirror(into: value)
            case .store:
                return nil
            case .open:
                if let destination = Destination(value) { return .open(destination) }
            case .watch:
                if let seconds = Int(value), (1...86_400).contains(seconds) { return .watch(every: .seconds(seconds)) }
            }
            throw UsageError("\(rawValue) wants \(wanted)")
        }
    }
}
