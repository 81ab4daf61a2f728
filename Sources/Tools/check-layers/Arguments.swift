import InwardCommandLine
import LayerContract

/// The command-line arguments.
struct Arguments: Equatable {
    /// The usage text.
    static let usage = """
        usage: check-layers [OPTIONS]

        Checks a package against the diagram of its layers, a Mermaid flowchart in Architecture.md.

          --package-path DIRECTORY  The package. Default: the current directory.
          --diagram FILE            The Markdown file that contains the diagram. Default: Architecture.md.
          --block HEADING           The heading above the diagram. Default: the first flowchart of the file.
          --format FORMAT           The format of the report: text, json, sarif or github. Default: text.
          --output FILE             Write the report to this file. Default: standard output.
          --baseline FILE           Accept the findings recorded in this file. If one of them is fixed, its record is a finding.
          --record-baseline FILE    Record the current findings in this file instead of writing a report.
          --write                   Draw the current code into the diagram's file instead of writing a report.
          --scratch-path DIRECTORY  The scratch path for SwiftPM. Default: the scratch path of the package.
          --help                    Show this help.

        Each relative FILE is resolved against the package's directory. --write keeps the rings, their titles and order,
        subgraphs and styles, but not the shapes of nodes and the texts of arrows.
        Exit status: 0 without findings, 1 with findings, 2 if the package cannot be checked.

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
    /// - Throws: A ``UsageError`` for the first invalid argument.
    init(_ arguments: [String]) throws(UsageError) {
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
            throw UsageError("only one of --baseline, --record-baseline and --write can be given")
        }
        guard !(writes || recordedBaseline != nil) || (output == nil && chosenFormat == nil) else {
            throw UsageError(
                "--output and --format apply to a report, which --record-baseline and --write do not write"
            )
        }
    }

    private static func format(_ name: String) throws(UsageError) -> ReportFormat {
        if let format = ReportFormat(rawValue: name) { return format }
        let names = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("there is no format \(name); the formats are \(names)")
    }
}

/// The exit status of the program.
enum ExitCode: Int32 {
    /// The package keeps the contract, or the requested file was written.
    case success = 0
    /// The check has findings.
    case findings = 1
    /// The package cannot be checked, or the arguments are invalid.
    case failure = 2
}
