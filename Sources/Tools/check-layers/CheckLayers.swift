import CommandLineOptions
import Foundation
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
    func run(_ words: some Sequence<String>) async -> ExitCode {
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
            "SwiftPM described the package in \(Self.spoken(described - start)), the check took "
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
        exit(await command.run(CommandLine.arguments.dropFirst()).rawValue)
    }
}
