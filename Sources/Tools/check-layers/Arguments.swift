import InwardCommandLine
import LayerContract

/// The command-line arguments.
struct Arguments: Equatable {
    /// The usage text.
    static let usage = """
        usage: check-layers [OPTIONS]

        Holds a package to the diagram of its layers: a Mermaid flowchart in Architecture.md.

          --package-path DIRECTORY  the package; without it, the current directory.
          --diagram FILE            the file that the diagram is in; without it, Architecture.md.
          --block HEADING           the heading that the diagram stands under; without it, the first flowchart.
          --format FORMAT           text, json, sarif or github; without it, text.
          --output FILE             where the report goes; without it, the standard output.
          --baseline FILE           findings that are recorded pass, and mended ones must be taken out.
          --record-baseline FILE    record what is found, and do nothing else.
          --write                   draw the diagram of the code as it is into the file, and do nothing else.
          --scratch-path DIRECTORY  where SwiftPM keeps what it makes; without it, where it always does.
          --help                    show this and do nothing else.

        Files are found from the package, wherever one stands. What is drawn anew keeps its rings, their titles and places,
        frames and styles; shapes of nodes and texts of arrows are drawn plainly.
        Exits with 0 if nothing is found, with 1 for findings, and with 2 if there is no contract or package to check.

        """

    var packagePath: String?
    var diagram: String?
    var block: String?
    var format: ReportFormat { chosenFormat ?? .text }
    var output: String?
    var baseline: String?
    var recordedBaseline: String?
    var scratchPath: String?
    var writes = false
    var asksForHelp = false
    private var chosenFormat: ReportFormat?

    /// Parses the arguments after the program's name.
    ///
    /// - Throws: a ``UsageError`` for the first invalid argument.
    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var parser = OptionParser(arguments)
        while let argument = parser.next() {
            switch argument {
            case .option("--package-path", _): packagePath = try parser.value()
            case .option("--diagram", _): diagram = try parser.value()
            case .option("--block", _): block = try parser.value()
            case .option("--format", _): chosenFormat = try Self.format(parser.value())
            case .option("--output", _): output = try parser.value()
            case .option("--baseline", _): baseline = try parser.value()
            case .option("--record-baseline", _): recordedBaseline = try parser.value()
            case .option("--scratch-path", _): scratchPath = try parser.value()
            case .option("--write", nil): writes = true
            case .option("--help", nil), .option("-h", nil): asksForHelp = true
            case .option, .positional: throw parser.unknownOption
            }
        }
        guard [baseline != nil, recordedBaseline != nil, writes].count(where: \.self) < 2 else {
            throw UsageError("there can be one of --baseline, --record-baseline and --write")
        }
        guard !(writes || recordedBaseline != nil) || (output == nil && chosenFormat == nil) else {
            throw UsageError("--output and --format are for a report, which --record-baseline and --write do not give")
        }
    }

    private static func format(_ name: String) throws(UsageError) -> ReportFormat {
        if let format = ReportFormat(rawValue: name) { return format }
        let names = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("there is no format \(name); there are \(names)")
    }
}

/// The exit status of the program.
enum ExitCode: Int32 {
    /// The package keeps the contract, or the requested file was written.
    case success = 0
    /// The check has findings.
    case findings = 1
    /// There is no contract or no package to check, or the arguments are invalid.
    case failure = 2
}
