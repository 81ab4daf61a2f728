import Foundation
import InwardCommandLine
import LayerContract

/// The command, which checks the layers of a package as the arguments specify.
struct CheckLayers {
    /// Writes the report, unless the report goes to a file.
    let output: (String) throws -> Void
    /// Writes all other messages.
    let errors: (String) -> Void
    /// Returns the description of a package.
    var describe = { (package: SwiftPackage) async throws -> PackageDescription in try await package.description() }

    /// Runs the command with the given arguments.
    func run(_ words: [String]) async -> ExitCode {
        do {
            let arguments = try Arguments(words)
            if arguments.asksForHelp {
                try output(Arguments.usage)
                return .success
            }
            return try await run(arguments)
        } catch let error as UsageError {
            errors("check-layers: \(error.explanation)\n\n\(Arguments.usage)")
        } catch let error as CheckFailure {
            errors("check-layers: \(error.explanation)\n")
        } catch {
            errors("check-layers: \(error)\n")
        }
        return .failure
    }

    private func run(_ arguments: Arguments) async throws -> ExitCode {
        let clock = ContinuousClock()
        let start = clock.now
        let directory = arguments.packagePath ?? FileManager.default.currentDirectoryPath
        let package = try await describe(SwiftPackage(directory: directory, scratchPath: arguments.scratchPath))
        let described = clock.now
        let check = PackageCheck(package: package, arguments: arguments)
        let sources = try await SourceReader(package).facts()
        if arguments.writes {
            try output(check.draw(sources))
            return .success
        }
        let report = try check.report(on: sources)
        if let file = arguments.recordedBaseline {
            try output(check.record(report, in: file))
            return .success
        }
        let text = try report.formatted(as: arguments.format)
        if let file = arguments.output { try check.write(text, to: file) } else { try output(text) }
        errors(
            "SwiftPM described the package in \(Self.spoken(described - start)). The check took "
                + "\(Self.spoken(clock.now - described)).\n"
        )
        return report.findings.isEmpty ? .success : .findings
    }

    private static func spoken(_ duration: Duration) -> String {
        duration.formatted(.units(allowed: [.seconds, .milliseconds], width: .narrow))
    }
}

/// The entry point of `check-layers [OPTIONS]`, which checks a package against its layer diagram.
@main
struct Main {
    static func main() async {
        let command = CheckLayers(
            output: { text in try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) },
            // If standard error cannot be written, there is nowhere to report it.
            errors: { text in try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
        )
        exit(await command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}

/// A package and the files of its check: the diagram, the manifest, and the baseline.
struct PackageCheck {
    let package: PackageDescription
    let arguments: Arguments

    private var diagramFile: String { arguments.diagram ?? "Architecture.md" }

    /// Checks the package against its diagram.
    func report(on sources: [SourceFacts]) throws -> LayerReport {
        let check = LayerCheck(
            diagram: try diagram(in: text(of: diagramFile)),
            package: package,
            sources: sources,
            manifest: ManifestLines(reading: [UInt8](try contents(of: ManifestLines.file)))
        )
        let report: LayerReport
        do {
            report = try check.report()
        } catch {
            throw CheckFailure("\(error)")
        }
        guard let file = arguments.baseline else { return report }
        do {
            return try Baseline(reading: contents(of: file)).applied(to: report, file: file)
        } catch let error as BaselineError {
            throw CheckFailure("\(file): \(error)")
        }
    }

    /// Draws the diagram of the current code, and returns a message that says where.
    func draw(_ sources: [SourceFacts]) throws -> String {
        let exists = FileManager.default.fileExists(atPath: url(of: diagramFile).path)
        let markdown = exists ? try text(of: diagramFile) : ""
        // Without `--block`, a missing diagram is appended. With it, the heading must exist, because it may be misspelled.
        let isDrawn = arguments.block != nil || LayerDiagram.isDrawn(in: markdown)
        let known = isDrawn ? try diagram(in: markdown) : nil
        let drawn = LayerDrawing(package: package, sources: sources, replacing: known).drawn(into: markdown)
        try write(drawn, to: diagramFile)
        return "The diagram of the current code was written to \(diagramFile).\n"
    }

    /// Records the findings as the baseline, and returns a message that says how many.
    func record(_ report: LayerReport, in file: String) throws -> String {
        try write(Baseline(recording: report.findings).jsonText(), to: file)
        return "Findings recorded in \(file): \(report.findings.count).\n"
    }

    /// Writes a file, given by an absolute path or a path relative to the package.
    func write(_ text: String, to file: String) throws {
        do {
            try Data(text.utf8).write(to: url(of: file), options: .atomic)
        } catch {
            throw CheckFailure(
                "\(file) cannot be written: \(error.localizedDescription) To let a plugin write files, run "
                    + "“swift package --disable-sandbox check-layers”."
            )
        }
    }

    private func diagram(in markdown: String) throws -> LayerDiagram {
        do {
            return try LayerDiagram(markdown: markdown, file: diagramFile, under: arguments.block)
        } catch {
            throw CheckFailure("\(diagramFile): \(error)")
        }
    }

    private func url(of file: String) -> URL {
        URL(filePath: file, relativeTo: URL(filePath: package.path, directoryHint: .isDirectory))
    }

    private func contents(of file: String) throws -> Data {
        do {
            return try Data(contentsOf: url(of: file))
        } catch {
            throw CheckFailure("\(file) cannot be read: \(error.localizedDescription)")
        }
    }

    private func text(of file: String) throws -> String {
        // `String(validating:as:)` keeps a byte order mark, so that it is written back.
        guard let text = String(validating: try contents(of: file), as: UTF8.self) else {
            throw CheckFailure("\(file) is not UTF-8.")
        }
        return text
    }
}

/// An error that prevents a package from being checked.
struct CheckFailure: Error, Equatable {
    /// The problem and how to fix it, in sentences.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}
