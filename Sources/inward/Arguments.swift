/// What the program is told on its command line.
struct Arguments: Equatable {
    /// How the program is used.
    static let usage = """
        usage: inward [UPSTREAM] [--output DIRECTORY]

          UPSTREAM            where users and posts come from: an address that begins with http:// or https://,
                              or a directory that mirrors one (users.json, posts.json).
                              Without it: a sample that is part of the program.
          --output DIRECTORY  also write what is shown as index.html and index.json into this directory.
          --help              show this and do nothing else.

        """

    var upstream: String?
    var output: String?
    var asksForHelp = false

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
                asksForHelp = true
            case "--output" where optionsMayFollow:
                guard let directory = remaining.popFirst() else { throw UsageError("--output wants a directory") }
                try setOutput(directory)
            case _ where optionsMayFollow && argument.hasPrefix("--output="):
                try setOutput(String(argument.dropFirst("--output=".count)))
            case _ where optionsMayFollow && argument.hasPrefix("-"):
                throw UsageError("there is no option \(argument)")
            default:
                guard upstream == nil else { throw UsageError("there can be one upstream") }
                upstream = argument
            }
        }
    }

    private mutating func setOutput(_ directory: String) throws(UsageError) {
        guard !directory.isEmpty else { throw UsageError("--output wants a directory") }
        guard output == nil else { throw UsageError("there can be one --output") }
        output = directory
    }
}
