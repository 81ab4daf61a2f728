import InwardCommandLine

/// The command-line arguments of the scaffold.
struct Arguments: Equatable {
    /// The usage text.
    static let usage = """
        usage: swift package scaffold-subject NAME [--plural NAMES] [--target ROLE=NAME]...

        Writes a new subject: an entity with its use cases, repository, presenter, container, test double and tests, in the
        targets of all rings. One use case lists the entities. Another one creates, changes and deletes them, through the outbox
        of the user's session if it has one.

          NAME                the type name of the new subject in the singular, such as Comment or BlogEntry.
          --plural NAMES      the type name in the plural, if the regular English plural is wrong.
          --target ROLE=NAME  the target for a role's files, if it is not the default. Its test target is NAMETests, unless
                              the diagram names another one.
          --help              print this help and exit.

        role          default            holds
        entities      Entities           the entity, its identifier, its draft and its rules
        use-cases     UseCases           the port and the use cases
        adapters      InterfaceAdapters  the record, the endpoint, the repository and the presenter
        composition   Composition        the container, which creates the use cases of a session
        doubles       UseCasesTesting    the test double of the port. Without this target, the use cases' tests get it.

        Without --target, the diagram in Architecture.md determines the target of each role. It is the target of the ring with
        the default name. If there is no such ring, it is the target of the only ring whose name ends with the default name, such
        as ShopEntities, or with Adapters for the adapters. If the diagram has neither, the target has the default name.

        """

    private(set) var name: String?
    private(set) var plural: String?
    private(set) var targets: [TargetRole: String] = [:]
    /// The path of the package to write to. The plugin passes it.
    private(set) var packagePath: String?
    /// The path of the file in which the plugin lists the package's targets.
    private(set) var targetList: String?
    private(set) var asksForHelp = false

    /// Parses the arguments after the program's name.
    ///
    /// - Throws: A ``UsageError`` for the first invalid argument.
    init(_ arguments: [String]) throws(UsageError) {
        var parser = OptionParser(arguments)
        while let argument = parser.next() {
            switch argument {
            case .option("--plural", _): plural = try parser.value()
            case .option("--target", _): try addTarget(parser.value("ROLE=NAME", canRepeat: true))
            case .option("--package-path", _): packagePath = try parser.value()
            case .option("--target-list", _): targetList = try parser.value()
            case .option("--help", nil), .option("-h", nil): asksForHelp = true
            case .option: throw parser.unknownOption
            case .positional(let text):
                guard name == nil else { throw UsageError("only one name is allowed, but “\(text)” is a second one") }
                name = text
            }
        }
    }

    private mutating func addTarget(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw UsageError("--target needs ROLE=NAME, not “\(text)”") }
        guard let role = TargetRole(rawValue: parts[0]) else {
            let roles = TargetRole.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("there is no role “\(parts[0])”; the roles are \(roles)")
        }
        guard targets.updateValue(parts[1], forKey: role) == nil else {
            throw UsageError("--target \(role.rawValue) can be given only once")
        }
    }
}

/// The exit status of the scaffold.
enum ExitCode: Int32 {
    /// The subject was written, or the help was shown.
    case success = 0
    /// The subject could not be written. No files were changed.
    case failure = 1
    /// The arguments are invalid.
    case usage = 2
}
