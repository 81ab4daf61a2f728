/// What the scaffold is told on its command line.
struct Arguments: Equatable {
    /// How the scaffold is used.
    static let usage = """
        usage: swift package scaffold-subject NAME [--plural NAMES] [--package-path DIRECTORY]

          NAME                      what one of the new subject is called as a type, such as Comment or BlogEntry.
          --plural NAMES            what several are called, where the usual English plural is wrong.
          --package-path DIRECTORY  the package to write into; without it, the current directory.
          --help                    show this and do nothing else.

        """

    private(set) var name: String?
    private(set) var plural: String?
    private(set) var packagePath: String?
    private(set) var asksForHelp = false

    /// Reads the arguments behind the program's name.
    ///
    /// - Throws: a ``UsageError`` at the first argument that does not fit.
    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var remaining = Array(arguments)[...]
        while let argument = remaining.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts[0] {
            case "--help", "-h":
                asksForHelp = true
            case "--plural":
                guard plural == nil else { throw UsageError("there can be one --plural") }
                plural = try Self.value(of: parts, or: &remaining)
            case "--package-path":
                guard packagePath == nil else { throw UsageError("there can be one --package-path") }
                packagePath = try Self.value(of: parts, or: &remaining)
            case _ where argument.hasPrefix("-"):
                throw UsageError("there is no option \(argument)")
            default:
                guard name == nil else { throw UsageError("there can be one name") }
                name = argument
            }
        }
    }

    /// What stands behind an option, either after an equals sign or as the next argument.
    private static func value(
        of option: [String],
        or remaining: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        let value = option.count > 1 ? option[1] : remaining.popFirst() ?? ""
        guard !value.isEmpty else { throw UsageError("\(option[0]) wants a value") }
        return value
    }
}

/// What does not fit about the arguments.
struct UsageError: Error, Equatable {
    /// What does not fit, as a sentence without its capital letter and full stop.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

/// How the scaffold ended, as it tells whoever started it.
enum ExitCode: Int32 {
    /// It did what was asked.
    case success = 0
    /// The subject could not be written, and nothing was.
    case failure = 1
    /// It was not told properly what to do.
    case usage = 2
}
